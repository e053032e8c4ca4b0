package ops

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/ingest"
	"vayu/internal/access/audit"
	"vayu/internal/sqlstore"
	"vayu/pipeline/airquality"
	"vayu/schema"
	"vayu/schema/parameter"
)

// NewReadings returns the command `vayu readings`.
func NewReadings() *cobra.Command {
	return tool.Group("readings", "Withdraw wrong readings, and reinstate them", newWithdraw(), newReinstate(), newWithdrawals())
}

// withdrawalOptions has the flags that the commands about withdrawals have in common.
type withdrawalOptions struct {
	account, reason string
	sandbox         bool
}

func (w *withdrawalOptions) world() schema.World {
	if w.sandbox {
		return schema.Sandbox
	}
	return schema.Live
}

func (w *withdrawalOptions) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&w.reason, "reason", "", "reason for the audit log")
	cmd.Flags().StringVar(&w.account, "account", tool.DefaultAccount, "name of the account whose audit log records it")
	cmd.Flags().BoolVar(&w.sandbox, "sandbox", false, "the sandbox world instead of the live one")
	_ = cmd.MarkFlagRequired("reason")
}

// run appends the audit row that `prepare` returns, calls `work`, and recomputes the affected hours and days. It
// appends the audit row first, so that no readings can change without an audit row.
func (w *withdrawalOptions) run(cmd *cobra.Command, prepare func(context.Context, *airquality.Rollup) (audit.Entry, error), work func(context.Context, *airquality.Rollup) error) error {
	if strings.TrimSpace(w.reason) == "" {
		return errors.New("--reason: it is empty")
	}
	return tool.WithKey(cmd, func(_ context.Context, st *tool.State) error {
		return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
			rollup, err := t.Rollup(w.world())
			if err != nil {
				return err
			}
			entry, err := prepare(ctx, rollup)
			if err != nil {
				return err
			}
			err = st.DB.Update(ctx, func(tx *sqlstore.Tx) error {
				holder, err := tool.AccountByName(tx, w.account)
				if err != nil {
					return err
				}
				entry.Account, entry.World = holder.ID, w.world()
				return tool.AppendAudit(tx, entry, nil)
			})
			if err != nil {
				return err
			}
			if err := work(ctx, rollup); err != nil {
				return err
			}
			result, err := rollup.Update(ctx)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(cmd.OutOrStdout(), "computed the hours of %d stations from %s to %s\n", result.Stations,
				result.From.Format(time.RFC3339), result.To.Format(time.RFC3339))
			return nil
		})
	})
}

func newWithdraw() *cobra.Command {
	var (
		common                      withdrawalOptions
		station, measured, from, to string
	)
	cmd := &cobra.Command{
		Use:   "withdraw --station ID --from TIME --to TIME --reason TEXT",
		Short: "Exclude readings of a station from every mean and index",
		Long: `Exclude readings of a station from every mean and index. The readings stay as their source gave them, and their hours,
days and cities are computed again. A time is YYYY-MM-DD (a whole Indian day) or RFC 3339 (2026-01-31T15:00:00+05:30);
readings are withdrawn whose averaging interval ends after --from and not after --to.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			w, err := withdrawal(station, measured, from, to)
			if err != nil {
				return err
			}
			w.Reason, w.Actor = common.reason, tool.CommandActor
			return common.run(cmd, func(ctx context.Context, rollup *airquality.Rollup) (audit.Entry, error) {
				readings, err := rollup.CountWithdrawn(ctx, w)
				if err != nil {
					return audit.Entry{}, err
				}
				_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s withdraws %d readings of %s\n", w.ID, readings, w.Station)
				return audit.Entry{Action: "readings.withdraw", Subject: w.ID, Detail: map[string]any{
					"station": w.Station, "parameter": w.Parameter.ID(), "from": w.From.Format(time.RFC3339), "to": w.To.Format(time.RFC3339),
					"readings": readings, "reason": w.Reason,
				}}, nil
			}, func(ctx context.Context, rollup *airquality.Rollup) error { return rollup.Withdraw(ctx, w) })
		},
	}
	cmd.Flags().StringVar(&station, "station", "", "id of the station")
	cmd.Flags().StringVar(&measured, "parameter", "", "what was measured, such as pm25; all parameters without it")
	cmd.Flags().StringVar(&from, "from", "", "first day, or the time after which readings are withdrawn")
	cmd.Flags().StringVar(&to, "to", "", "last day, or the time up to which readings are withdrawn")
	common.flags(cmd)
	for _, name := range []string{"station", "from", "to"} {
		_ = cmd.MarkFlagRequired(name)
	}
	return cmd
}

func withdrawal(station, measured, from, to string) (airquality.Withdrawal, error) {
	w := airquality.Withdrawal{ID: airquality.NewWithdrawalID(), Station: station}
	if measured != "" {
		var ok bool
		if w.Parameter, ok = parameter.Parse(measured); !ok {
			return w, fmt.Errorf("--parameter: %q is not in the catalogue of parameters", measured)
		}
	}
	var err error
	w.From, w.To, err = ingest.ParseRange(from, to)
	return w, err
}

func newReinstate() *cobra.Command {
	var common withdrawalOptions
	cmd := &cobra.Command{
		Use:   "reinstate WITHDRAWAL --reason TEXT",
		Short: "Reinstate withdrawn readings",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var w airquality.Withdrawal
			return common.run(cmd, func(ctx context.Context, rollup *airquality.Rollup) (_ audit.Entry, err error) {
				if w, err = rollup.Withdrawal(ctx, args[0]); err != nil {
					return audit.Entry{}, err
				}
				w.Reason, w.Actor = common.reason, tool.CommandActor
				return audit.Entry{Action: "readings.reinstate", Subject: w.ID, Detail: map[string]any{"station": w.Station, "reason": w.Reason}}, nil
			}, func(ctx context.Context, rollup *airquality.Rollup) error { return rollup.Reinstate(ctx, w) })
		},
	}
	common.flags(cmd)
	return cmd
}

func newWithdrawals() *cobra.Command {
	var sandbox bool
	cmd := &cobra.Command{
		Use:   "withdrawals",
		Short: "List the withdrawals in force",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			common := withdrawalOptions{sandbox: sandbox}
			return tool.WithDatabase(cmd, func(ctx context.Context, t *tool.Database) error {
				rollup, err := t.Rollup(common.world())
				if err != nil {
					return err
				}
				return rollup.WriteWithdrawals(ctx, cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().BoolVar(&sandbox, "sandbox", false, "the sandbox world instead of the live one")
	return cmd
}
