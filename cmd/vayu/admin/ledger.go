package admin

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/status"
	"vayu/cmd/vayu/tool"
	"vayu/internal/sqlstore"
	"vayu/pipeline/wallet"
)

// NewLedger returns the command `vayu ledger`.
func NewLedger() *cobra.Command {
	return tool.Group("ledger", "Check the ledger", newLedgerVerify())
}

func newLedgerVerify() *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check the sums and entries of the ledger",
		Long: `Check the ledger, beside a running service or without one. The postings of every entry have
the sum zero. The balance of every wallet is the sum of its postings, and its reserved amount that
of its pending recharges. Every recharge and payment has exactly the entries of its state. Every
final recharge, payment and verification has a row in the audit log. The command prints the sum of
each ledger, and every fault with its recharge or payment.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return tool.WithState(cmd, func(ctx context.Context, st *tool.State) error {
				return verifyLedger(ctx, cmd.OutOrStdout(), st.DB, name)
			})
		},
	}
	cmd.Flags().StringVar(&name, "account", "", "name of one account (default: all)")
	return cmd
}

// verifyLedger checks the ledger of the named account, or the ledgers of all if name is "", and prints the result.
func verifyLedger(ctx context.Context, out io.Writer, db *sqlstore.DB, name string) error {
	names, err := tool.AccountNames(db.View(ctx))
	if err != nil {
		return err
	}
	id := ""
	if name != "" {
		holder, err := tool.AccountByName(db.View(ctx), name)
		if err != nil {
			return err
		}
		id = holder.ID
	}
	r, err := status.CheckLedgers(ctx, db, id)
	if err != nil {
		return err
	}
	if err := printLedgers(out, r); err != nil {
		return err
	}
	for _, f := range r.Faults {
		f.Owner.Account = names[f.Owner.Account]
		_, _ = fmt.Fprintln(out, "FAIL ", f)
	}
	if more := r.FaultCount - int64(len(r.Faults)); more > 0 {
		_, _ = fmt.Fprintln(out, "FAIL ", more, "more")
	}
	status := "ok   "
	if r.FaultCount > 0 {
		status = "FAIL "
	}
	_, _ = fmt.Fprintf(out, "%s %d postings, %d recharges, %d payments: %d faults\n", status, r.Postings, r.Recharges, r.Payments, r.FaultCount)
	if r.FaultCount > 0 {
		return tool.ErrReported
	}
	return nil
}

func printLedgers(out io.Writer, r wallet.Report) error {
	if len(r.Ledgers) == 0 {
		return nil
	}
	table := tool.NewTable(out, "MODE\tLEDGER\tSUM")
	for _, l := range r.Ledgers {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", l.World, l.Ledger, l.Sum.Rupees())
	}
	return table.Flush()
}
