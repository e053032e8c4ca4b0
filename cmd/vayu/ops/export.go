package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/query/dataset"
	"vayu/query/export"
	"vayu/schema"
)

// exportRun holds the flags of `vayu export`.
type exportRun struct {
	query  export.Query
	mode   string
	output string
}

// NewExport returns the command `vayu export`.
func NewExport() *cobra.Command {
	var r exportRun
	cmd := &cobra.Command{
		Use:   "export TABLE",
		Short: "Write a table as Parquet, Arrow, CSV or JSON lines, beside a running service or without one",
		Long: `Write a table as Parquet, Arrow, CSV or JSON lines, beside a running service or without one. Tables: ` + strings.Join(dataset.Names(), ", ") + `.
With -o the file is FILE.partial until it is complete. The same command continues a partial file if the data have not changed since.`,
		Example: `  vayu export city_day --city Delhi --format csv
  vayu export reading --from 2024-01-01 --to 2024-12-31 --parameters pm25,pm10 -o readings.parquet`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r.query.Table, r.query.Today = args[0], schema.DayOf(time.Now())
			world, err := tool.ParseWorld(r.mode)
			if err != nil {
				return err
			}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				request, err := export.Resolve(ctx, t.DB.Conn(), world.Database(), r.query)
				if problem, ok := errors.AsType[*schema.Problem](err); ok {
					return errors.New(problem.Message)
				}
				if err != nil {
					return err
				}
				e, err := export.Open(ctx, t.DB.Conn(), world.Database(), request)
				if err != nil {
					return err
				}
				progress := &export.Progress{Out: cmd.ErrOrStderr(), Rows: e.Rows, Began: time.Now()}
				if r.output == "" {
					_, err := e.Write(ctx, progress.Count(cmd.OutOrStdout()), 0)
					return err
				}
				rows, err := e.WriteFile(ctx, r.output, progress)
				if errors.Is(err, export.ErrChanged) {
					return fmt.Errorf("%w: run the command again, or name days that no longer change with --to", err)
				}
				if err != nil {
					return err
				}
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows, %.1f MB in %s\n", r.output, rows, float64(progress.Bytes)/1e6, time.Since(progress.Began).Round(10*time.Millisecond))
				return nil
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&r.output, "output", "o", "", "file to write; standard output if empty")
	f.StringVar(&r.query.Format, "format", "parquet", "form of the file: "+strings.Join(dataset.FormatNames(), ", "))
	f.StringVar(&r.query.From, "from", "", "first Indian day, YYYY-MM-DD")
	f.StringVar(&r.query.To, "to", "", "last Indian day, YYYY-MM-DD")
	f.StringVar(&r.query.City, "city", "", "rows of one city")
	f.StringVar(&r.query.Station, "station", "", "rows of one station, by its id")
	f.StringVar(&r.query.State, "state", "", "rows of one state")
	f.StringVar(&r.query.Parameters, "parameters", "", "ids of parameters, separated by commas")
	f.StringVar(&r.mode, "mode", schema.Live.String(), "world of the air: live, or sandbox (test does too)")
	return cmd
}
