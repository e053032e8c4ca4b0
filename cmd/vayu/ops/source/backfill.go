package source

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/collect"
	"vayu/ingest/progress"
	"vayu/schema"
)

// backfillFlags are the flags of `vayu source backfill`. `vayu source replay` has all of them but --cancel.
type backfillFlags struct {
	collect.BackfillCommand

	from, to string
}

func newBackfill() *cobra.Command {
	var f backfillFlags
	cmd := &cobra.Command{
		Use:   "backfill NAME",
		Short: "Fetch past readings of a source, within its call budget",
		Long: `Fetch past readings of a source, the newest first, and follow the progress. The running service does the work, also
after the command ends. Without a service the command does it. The same command continues an interrupted or failed
backfill. Scheduled runs keep at least a fifth of the call budget. Without --from, the command follows the running
backfill, or shows the last one.`,
		Example: `  vayu source backfill openaq --from 2026-01-01 --to 2026-06-30 --parallel 4
  vayu source backfill openaq --cancel`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			world, err := f.parse(cmd, args[0])
			if err != nil {
				return err
			}
			return f.run(cmd, world)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339")
	f.bind(flags)
	flags.BoolVar(&f.Cancel, "cancel", false, "end the running backfill")
	return cmd
}

// bind adds the flags that `backfill` and `replay` have in common.
func (f *backfillFlags) bind(flags *pflag.FlagSet) {
	flags.StringVar(&f.to, "to", "", "end of the time range; default now")
	flags.StringSliceVar(&f.Wanted.Partitions, "partition", nil, "only these partitions; may be repeated")
	flags.IntVar(&f.Wanted.Parallel, "parallel", 2, "fetch so many partitions at a time")
	flags.BoolVar(&f.Detach, "detach", false, "do not follow the progress")
}

// parse sets the source and the time range to fetch, and returns the world of the source.
func (f *backfillFlags) parse(cmd *cobra.Command, name string) (schema.World, error) {
	all, _, err := catalogue(cmd)
	if err != nil {
		return 0, err
	}
	entry, err := all.Find(name)
	f.Wanted.Source = name
	if err != nil || f.from == "" {
		return entry.World, err
	}
	if !entry.Feed.AnyWindow {
		return entry.World, fmt.Errorf("source %q: %w", name, backfill.ErrNoHistory)
	}
	from, to, err := ingest.ParseRange(f.from, cmp.Or(f.to, "9999-12-31"))
	if f.to == "" {
		to = time.Time{}
	}
	f.Wanted.Window = ingest.Window{From: from, To: to}
	return entry.World, err
}

func (f *backfillFlags) run(cmd *cobra.Command, w schema.World) error {
	return tool.WithState(cmd, func(ctx context.Context, st *tool.State) (err error) {
		f.Data = st.Data
		if f.Local, err = progress.Local(st.DB, st.ClickHouse == "", st.Data); err != nil {
			return err
		}
		f.Collect = func(follow func(context.Context) error) error {
			return tool.Options{Create: true}.Run(cmd, func(ctx context.Context, t *tool.Database) error {
				collector, err := tool.NewCollector(t.Config, st.DB, t.DB, func(schema.World) []string { return nil }, tool.Update, t.Log, t.Reg)
				if err != nil {
					return err
				}
				return collector.Until(ctx, follow)
			})
		}
		last, err := f.Run(ctx, st.DB, w, cmd.OutOrStdout())
		if err == nil && last.State == backfill.Failed {
			return tool.ErrReported
		}
		return err
	})
}
