package ops

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"vayu/cmd/vayu/settings"
	"vayu/cmd/vayu/tool"
	"vayu/query/console"
)

// sqlFlags are the flags of `vayu sql`.
type sqlFlags struct {
	mode, format, output, file string
	params                     []string
	write                      bool
}

// NewSQL returns the command `vayu sql`.
func NewSQL() *cobra.Command {
	var r sqlFlags
	cmd := &cobra.Command{
		Use:   `sql ["SELECT …"]`,
		Short: "Query ClickHouse in SQL, beside a running service or without one",
		Long: `Query ClickHouse in SQL, beside a running service or without one. Without a query, it reads statements from a
terminal, or from the standard input. Of several versions of a row it reads the latest. It reads as the user
analyst, within the limits of analysts, unless --write is set.
Formats are ` + strings.Join(console.Formats, ", ") + ` and all of ClickHouse: https://clickhouse.com/docs/interfaces/formats`,
		Example: `  vayu sql "SELECT city, aqi FROM city_hour ORDER BY at DESC LIMIT 1 BY city"
  vayu sql --format parquet -o pune.parquet --param city=Pune "SELECT * FROM city_hour WHERE city = {city:String}"
  vayu sql --mode sandbox`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("the query is one argument, in quotes: these are %d", len(args))
			}
			if len(args) > 0 && r.file != "" {
				return errors.New("--file and a query exclude each other")
			}
			return r.run(cmd, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&r.mode, "mode", "live", "world of the air: live, or sandbox (test does too)")
	f.StringVar(&r.format, "format", "", "format of the result (default table, or the format of the name in --output)")
	f.StringVarP(&r.output, "output", "o", "", "file of the result; it gets this name once it is complete")
	f.StringVarP(&r.file, "file", "f", "", "file of statements, separated by semicolons; - for the standard input")
	f.StringArrayVar(&r.params, "param", nil, "name=value of {name:Type} in a query; repeatable")
	f.BoolVar(&r.write, "write", false, "run as the administrator: statements may change data and read all tables, without the limits of analysts")
	settings.Bind(f, "clickhouse-analyst")
	return cmd
}

func (r sqlFlags) run(cmd *cobra.Command, args []string) error {
	c := console.Config{Write: r.write, Format: r.format, Params: map[string]string{}, Out: os.Stdout, Err: os.Stderr}
	world, err := tool.ParseWorld(r.mode)
	if err != nil {
		return err
	}
	c.Database = world.Database()
	for _, p := range r.params {
		name, value, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return fmt.Errorf("--param: %q is not name=value", p)
		}
		c.Params[name] = value
	}
	if c.Format == "" {
		c.Format = console.FormatOf(r.output)
	}
	c.Progress = term.IsTerminal(int(os.Stderr.Fd()))
	prompt := len(args) == 0 && r.file == "" && r.output == "" && term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stdout.Fd()))
	if prompt { // Ctrl-C cancels a statement and not the command
		ctx, stop := signal.NotifyContext(context.WithoutCancel(cmd.Context()), syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		cmd.SetContext(ctx)
	}
	return tool.Options{Guest: prompt, Partial: c.Write}.Run(cmd, func(ctx context.Context, t *tool.Database) (err error) {
		if c.Watch, _, err = t.DB.HTTP(false); err != nil {
			return err
		}
		if c.HTTP, c.URL, err = t.DB.HTTP(!c.Write); err != nil {
			return err
		}
		if prompt {
			return c.Prompt(ctx, console.HistoryFile())
		}
		return c.Script(ctx, console.Input{Args: args, File: r.file, Stdin: os.Stdin}, r.output)
	})
}
