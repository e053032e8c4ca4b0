package ops

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
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
				progress := &exportProgress{out: cmd.ErrOrStderr(), rows: e.Rows, began: time.Now()}
				if r.output == "" {
					_, err := e.Write(ctx, progress.count(cmd.OutOrStdout()), 0)
					return err
				}
				rows, err := writePartial(ctx, e, r.output, progress)
				if errors.Is(err, export.ErrChanged) {
					return fmt.Errorf("%w: run the command again, or name days that no longer change with --to", err)
				}
				if err != nil {
					return err
				}
				_, _ = fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d rows, %.1f MB in %s\n", r.output, rows, float64(progress.bytes)/1e6, time.Since(progress.began).Round(10*time.Millisecond))
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

// writePartial writes a file, and returns its number of rows. It continues FILE.partial, the beginning that an
// interrupted run left, if FILE.partial.version has the present version of the data.
func writePartial(ctx context.Context, e *export.Export, path string, progress *exportProgress) (rows uint64, err error) {
	partial, version := path+".partial", path+".partial.version"
	offset := int64(0)
	if tag, err := os.ReadFile(version); err == nil && string(tag) == e.Tag {
		if info, err := os.Stat(partial); err == nil {
			offset = info.Size()
		}
	}
	if err := os.WriteFile(version, []byte(e.Tag), 0o644); err != nil { //nolint:gosec // as readable as any file of the user
		return 0, err
	}
	file, err := os.OpenFile(partial, os.O_CREATE|os.O_WRONLY, 0o644) //nolint:gosec // the same
	if err != nil {
		return 0, err
	}
	err = file.Truncate(offset)
	if err == nil {
		_, err = file.Seek(offset, io.SeekStart)
	}
	if offset > 0 {
		_, _ = fmt.Fprintf(progress.out, "continuing %s at byte %d\n", partial, offset)
	}
	if err == nil {
		progress.bytes = offset
		rows, err = e.Write(ctx, progress.count(file), offset)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return rows, err
	}
	if err := os.Rename(partial, path); err != nil {
		return rows, err
	}
	return rows, os.Remove(version)
}

// exportProgress prints the number of written bytes once a second.
type exportProgress struct {
	out   io.Writer
	rows  uint64
	bytes int64
	began time.Time
	shown time.Time
}

// count returns a writer that counts the bytes that it passes on.
func (p *exportProgress) count(w io.Writer) io.Writer { return &progressWriter{w, p} }

type progressWriter struct {
	w io.Writer
	p *exportProgress
}

// Write implements io.Writer.
func (w *progressWriter) Write(b []byte) (int, error) {
	n, err := w.w.Write(b)
	p := w.p
	p.bytes += int64(n)
	if now := time.Now(); now.Sub(p.shown) >= time.Second && now.Sub(p.began) >= time.Second {
		p.shown = now
		_, _ = fmt.Fprintf(p.out, "%.1f MB of about %d rows written\n", float64(p.bytes)/1e6, p.rows)
	}
	return n, err
}
