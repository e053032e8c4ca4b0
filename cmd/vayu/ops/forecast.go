package ops

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/pipeline/airquality/forecast"
	"vayu/schema"
)

// NewForecast returns the command `vayu forecast`.
func NewForecast() *cobra.Command {
	var sandbox bool
	cmd := &cobra.Command{Use: "forecast", Short: "Issue forecasts, replay past ones, and print their score"}
	cmd.PersistentFlags().BoolVar(&sandbox, "sandbox", false, "the sandbox world instead of the live one")
	with := func(cmd *cobra.Command, work func(context.Context, *forecast.Forecaster) error) error {
		world := schema.Live
		if sandbox {
			world = schema.Sandbox
		}
		return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
			f, err := forecast.New(t.DB.Conn(), world.Database(), t.Log, t.Reg)
			if err != nil {
				return err
			}
			return work(ctx, f)
		})
	}
	issue := &cobra.Command{
		Use: "issue", Short: "Issue the forecasts that are due now; a running service does this automatically", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return with(cmd, func(ctx context.Context, f *forecast.Forecaster) error {
				issued, err := f.Due(ctx, time.Now())
				if err == nil && !issued {
					_, _ = fmt.Fprintln(cmd.OutOrStdout(), "no forecasts are due: they were issued, or yesterday has no data yet")
				}
				return err
			})
		},
	}
	score := &cobra.Command{
		Use: "score [REPLAY]", Short: "Print the score of the issued forecasts, or of a replay", Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return with(cmd, func(ctx context.Context, f *forecast.Forecaster) error {
				return f.WriteScore(ctx, append(args, "")[0], cmd.OutOrStdout())
			})
		},
	}
	cmd.AddCommand(issue, newForecastReplay(with), score)
	return cmd
}

func newForecastReplay(with func(*cobra.Command, func(context.Context, *forecast.Forecaster) error) error) *cobra.Command {
	var from, to string
	var r forecast.Replay
	cmd := &cobra.Command{
		Use:   "replay --from YYYY-MM-DD --to YYYY-MM-DD",
		Short: "Issue forecasts for past days, from the readings known then, and print their score",
		Long: `Issue forecasts for past days, from the readings known then, and print their score. A reading is known from the time at
which it was stored. With --as-measured it is known at the end of its day: archives need that, because they are imported later.
The forecasts are rows of the table forecast with the printed id in the column run. GET /v1/forecast never shows
them, and they are deleted after 90 days.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if r.Targets.First, err = schema.ParseDay(from); err != nil {
				return fmt.Errorf("--from: %q is not a date YYYY-MM-DD", from)
			}
			if r.Targets.Last, err = schema.ParseDay(to); err != nil {
				return fmt.Errorf("--to: %q is not a date YYYY-MM-DD", to)
			}
			if r.Targets.Last < r.Targets.First {
				return fmt.Errorf("--to %s is before --from %s", to, from)
			}
			return with(cmd, func(ctx context.Context, f *forecast.Forecaster) error {
				run, rows, err := f.Replay(ctx, r)
				if err != nil {
					return err
				}
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s has %d forecasts\n", run, rows)
				return f.WriteScore(ctx, run, cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().StringVar(&from, "from", "", "first day that is forecast, Indian time")
	cmd.Flags().StringVar(&to, "to", "", "last day that is forecast one day ahead")
	cmd.Flags().BoolVar(&r.AsMeasured, "as-measured", false, "treat each reading as known at the end of its day")
	_ = cmd.MarkFlagRequired("from")
	_ = cmd.MarkFlagRequired("to")
	return cmd
}
