package source

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest/progress"
	"vayu/schema"
)

func newWatermark() *cobra.Command {
	var set, partition string
	var most int
	cmd := &cobra.Command{
		Use:   "watermark NAME",
		Short: "Show up to which time a source is fetched, or set it",
		Long: `Show up to which time a source and its partitions are fetched, the oldest partitions first.
--set makes the next run continue at another time, beside a running service or without one. Fetching again is harmless,
because it replaces readings. Without --partition it concerns all partitions.`,
		Example: `  vayu source watermark openaq
  vayu source watermark openaq --set 2026-11-20T00:00:00Z --partition 8118`,
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
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				store, err := progressOf(st, entry.World)
				if err == nil && set != "" {
					err = store.SetText(ctx, args[0], partition, set)
				}
				if err != nil {
					return err
				}
				marks, err := store.Watermarks(ctx, args[0])
				if err != nil {
					return err
				}
				return progress.WriteWatermarks(cmd.OutOrStdout(), args[0], marks, most, time.Now())
			})
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&set, "set", "", "continue at this time: YYYY-MM-DD in Indian time, or RFC 3339")
	flags.StringVar(&partition, "partition", "", "with --set: only this partition")
	flags.IntVar(&most, "rows", 50, "show at most so many partitions")
	return cmd
}

// progressOf returns the store that has the progress of a world's sources (live or sandbox).
func progressOf(st *tool.State, w schema.World) (*progress.Store, error) {
	local, err := progress.Local(st.DB, st.ClickHouse == "", st.Data)
	return progress.New(st.DB, progress.Scope(w, local), time.Now), err
}
