package source

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/collect"
	"vayu/ingest/progress"
	"vayu/schema"
)

// backfillFlags are the flags of `vayu source backfill`, in part also of `vayu source replay`.
type backfillFlags struct {
	from, to       string
	partitions     []string
	parallel       int
	detach, cancel bool

	window ingest.Window // the wanted range; zero to follow only
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
			all, _, err := catalogue(cmd)
			if err != nil {
				return err
			}
			entry, err := all.Find(args[0])
			if err != nil {
				return err
			}
			if f.from != "" && !entry.Feed.Windows {
				return fmt.Errorf("source %q: %w", args[0], backfill.ErrNoHistory)
			}
			if err := f.parse(); err != nil {
				return err
			}
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error { return f.run(ctx, cmd, st, args[0], entry.World) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339")
	flags.StringVar(&f.to, "to", "", "end of the time range; default now")
	f.bind(flags)
	flags.BoolVar(&f.cancel, "cancel", false, "end the running backfill")
	return cmd
}

// bind adds the flags that both commands have.
func (f *backfillFlags) bind(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.partitions, "partition", nil, "only these partitions; may be repeated")
	flags.IntVar(&f.parallel, "parallel", 2, "fetch so many partitions at a time")
	flags.BoolVar(&f.detach, "detach", false, "do not follow the progress")
}

// parse sets the wanted range.
func (f *backfillFlags) parse() error {
	if f.from == "" {
		return nil
	}
	from, to, err := tool.ParseRange(f.from, cmp.Or(f.to, "9999-12-31"))
	if f.to == "" {
		to = time.Time{}
	}
	f.window = ingest.Window{From: from, To: to}
	return err
}

func (f *backfillFlags) run(ctx context.Context, cmd *cobra.Command, st *tool.State, name string, w schema.World) error {
	local, err := progress.Local(st.DB, st.ClickHouse == "", st.Data)
	if err != nil {
		return err
	}
	store := backfill.New(st.DB, progress.Scope(w, local), time.Now)
	if f.cancel {
		err = store.Cancel(ctx, name)
	} else if !f.window.From.IsZero() {
		_, err = store.Start(ctx, backfill.Job{Source: name, Window: f.window, Partitions: f.partitions, Parallel: f.parallel})
	}
	if err != nil {
		return err
	}
	last, err := store.Find(ctx, name)
	if err == nil && last.State == backfill.Running && !f.detach {
		last, err = follow(ctx, cmd, st, store, name, local)
	}
	if err != nil {
		return err
	}
	if err := last.Write(cmd.OutOrStdout(), time.Now()); err != nil || last.State != backfill.Failed {
		return err
	}
	return tool.ErrReported
}

// follow prints the progress of a backfill until it ends, and returns it. Without a service, it also does the work.
func follow(ctx context.Context, cmd *cobra.Command, st *tool.State, store *backfill.Store, name, local string) (last backfill.Job, err error) {
	print := func(ctx context.Context) (err error) {
		last, err = store.Follow(ctx, name, cmd.ErrOrStderr(), term.IsTerminal(int(os.Stderr.Fd())))
		return err
	}
	served, err := collect.Served(ctx, st.DB, st.Data, local)
	if err != nil {
		return last, err
	}
	if served {
		err = print(ctx)
		return last, err
	}
	err = tool.WithNewDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
		collector, err := tool.NewCollector(t.Config, st.DB, t.DB, func(schema.World) []string { return nil }, tool.Update, t.Log, t.Reg)
		if err != nil {
			return err
		}
		return collector.Until(ctx, print)
	})
	return last, err
}
