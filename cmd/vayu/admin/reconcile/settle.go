package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/reconcile"
)

func newReconcileSettle() *cobra.Command {
	var note string
	flags := map[order.Outcome]*bool{order.Succeeded: new(bool), order.Failed: new(bool), order.Reversed: new(bool)}
	cmd := &cobra.Command{
		Use:   "settle TXN --succeeded|--failed|--reversed --note TEXT",
		Short: "Settle a recharge by the statement of its operator",
		Long: `Settle a pending recharge by a statement of its operator, by telephone or in a letter, or
refund a charged one that the operator has reversed. The command has the effects of a callback:
postings, the event for the client and the row in the audit log. The result is final. The audit
log, which the account can read, contains the note.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var outcomes []order.Outcome
			for outcome, is := range flags {
				if *is {
					outcomes = append(outcomes, outcome)
				}
			}
			if len(outcomes) != 1 {
				return errors.New("set --succeeded, --failed or --reversed")
			}
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				by, err := settler(st)
				if err != nil {
					return err
				}
				r, err := reconcile.SettleManually(ctx, st.DB, by, time.Now(), outcomes[0], reconcile.Resolution{ID: args[0], Note: note, By: tool.CommandActor})
				if err == nil {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, %s\n", r.ID, r.Amount.Rupees(), r.State)
				}
				return err
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(flags[order.Succeeded], "succeeded", false, "it was carried out: the account is charged")
	f.BoolVar(flags[order.Failed], "failed", false, "it was not carried out: the reserved amount is released")
	f.BoolVar(flags[order.Reversed], "reversed", false, "it was carried out and reversed: the amount is refunded to the account")
	noteFlag(cmd, &note)
	return cmd
}

func newReconcileResolve() *cobra.Command {
	var note string
	cmd := &cobra.Command{
		Use:   "resolve TXN --note TEXT",
		Short: "Resolve the alarm of a recharge, with a note about the result",
		Long: `Resolve the alarm of a recharge whose operator has contradicted an earlier status.
No money moves. The note goes into the audit log, which the account can read. A recharge that
is pending leaves the list when it is settled.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				r, err := reconcile.Resolve(ctx, st.DB, time.Now(), reconcile.Resolution{ID: args[0], Note: note, By: tool.CommandActor})
				if err == nil {
					_, _ = fmt.Fprintf(cmd.OutOrStdout(), "%s  %s, %s; %s resolved\n", r.ID, r.Amount.Rupees(), r.State, r.Alarm)
				}
				return err
			})
		},
	}
	noteFlag(cmd, &note)
	return cmd
}

func noteFlag(cmd *cobra.Command, note *string) {
	cmd.Flags().StringVar(note, "note", "", "who stated what, and when, for the audit log")
	_ = cmd.MarkFlagRequired("note") // fails only if the flag does not exist
}
