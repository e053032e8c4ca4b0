package source

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest/backfill"
	"vayu/ingest/journal"
	"vayu/ingest/preview"
	"vayu/schema"
)

// replayRange is how long ago the rejected values of a replay are at most, without --from.
const replayRange = 30 * 24 * time.Hour

func newReplay() *cobra.Command {
	var f backfillFlags
	var reasons []string
	cmd := &cobra.Command{
		Use:   "replay NAME",
		Short: "Fetch the windows with rejected values of a source again, after a fix",
		Long: `Fetch again what was rejected, after the description or the network was fixed: from the start of the first run that
rejected values, to the end of the last one. Missing values do not count, unless --reason names them. The rejected
records are not used, because a run keeps only the first hundred of each reason. The fetch is a backfill: see "vayu
source backfill", which also continues or cancels it.`,
		Example: `  vayu source replay schools --reason unknown_unit
  vayu source replay schools --from 2026-11-20 --parallel 4`,
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
			if !entry.Feed.Windows {
				return fmt.Errorf("source %q: %w", args[0], backfill.ErrNoHistory)
			}
			f.from = cmp.Or(f.from, time.Now().Add(-replayRange).UTC().Format(time.RFC3339))
			if err := f.parse(); err != nil {
				return err
			}
			found, err := f.rejected(cmd, args[0], entry.World, reasons)
			if err != nil || found.Runs == 0 {
				return err
			}
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error { return f.run(ctx, cmd, st, args[0], entry.World) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339; default 30 days ago")
	flags.StringVar(&f.to, "to", "", "end of the time range; default now")
	flags.StringSliceVar(&reasons, "reason", nil, "only values that were rejected for these reasons, such as unknown_unit")
	f.bind(flags)
	return cmd
}

// rejected reads and prints how many values were rejected, and narrows the wanted range to that of their runs.
func (f *backfillFlags) rejected(cmd *cobra.Command, name string, w schema.World, reasons []string) (found journal.Rejected, err error) {
	err = tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
		found, err = journal.New(t.DB.Conn(), schema.OpsDatabase, w).Rejected(ctx, name, f.window, reasons)
		return err
	})
	if err != nil {
		return found, err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "%d runs of %s rejected such values since %s\n", found.Runs, name, f.window.From.Format(time.RFC3339))
	f.window = found.Window
	preview.Rejections(cmd.OutOrStdout(), found.Values)
	return found, err
}
