package source

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest/journal"
	"vayu/ingest/preview"
	"vayu/schema"
)

// replayRange is the largest age of the rejected values that a replay considers if --from is not set.
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
			f.from = cmp.Or(f.from, time.Now().Add(-replayRange).UTC().Format(time.RFC3339))
			world, err := f.parse(cmd, args[0])
			if err != nil {
				return err
			}
			var found journal.Rejected
			err = tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				found, err = journal.New(t.DB.Conn(), schema.OpsDatabase, world).Rejected(ctx, args[0], f.Wanted.Window, reasons)
				return err
			})
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%d runs of %s rejected such values since %s\n", found.Runs, args[0], f.from)
			if found.Runs == 0 {
				return nil
			}
			preview.Rejections(cmd.OutOrStdout(), found.Values)
			f.Wanted.Window = found.Window
			return f.run(cmd, world)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.from, "from", "", "begin of the time range: YYYY-MM-DD in Indian time, or RFC 3339; default 30 days ago")
	f.bind(flags)
	flags.StringSliceVar(&reasons, "reason", nil, "only values that were rejected for these reasons, such as unknown_unit")
	return cmd
}
