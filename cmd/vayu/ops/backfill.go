package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/schema"
)

// NewBackfill returns the command `vayu backfill`.
func NewBackfill() *cobra.Command {
	var from, to string
	var sandbox bool
	cmd := &cobra.Command{
		Use:   "backfill --from YYYY-MM-DD --to YYYY-MM-DD",
		Short: "Compute hours and days again from the stored readings",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			first, err := schema.ParseDay(from)
			if err != nil {
				return fmt.Errorf("--from: %q is not a date YYYY-MM-DD", from)
			}
			last, err := schema.ParseDay(to)
			if err != nil {
				return fmt.Errorf("--to: %q is not a date YYYY-MM-DD", to)
			}
			if last < first {
				return fmt.Errorf("--to %s is before --from %s", last, first)
			}
			world := schema.Live
			if sandbox {
				world = schema.Sandbox
			}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				rollup, err := t.Rollup(world)
				if err != nil {
					return err
				}
				result, err := rollup.Backfill(ctx, first.Start(), last.End())
				if err != nil {
					return err
				}
				if result.Stations == 0 {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), "there are no readings in these days")
					return nil
				}
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "computed %d stations from %s to %s in %s\n", result.Stations,
					result.From.Format(time.RFC3339), result.To.Format(time.RFC3339), result.Elapsed.Round(time.Millisecond))
				return nil
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first Indian day")
	cmd.Flags().StringVar(&to, "to", "", "last Indian day")
	cmd.Flags().BoolVar(&sandbox, "sandbox", false, "the sandbox world instead of the live one")
	_ = cmd.MarkFlagRequired("from")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}
