package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"vayu/internal/access"
	"vayu/internal/sqlstore"
	"vayu/pipeline/wallet"
)

func newLedger() *cobra.Command {
	cmd := &cobra.Command{Use: "ledger", Short: "Check the ledger"}
	cmd.AddCommand(newLedgerVerify())
	return cmd
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
			return withState(cmd, func(ctx context.Context, st *stateTool) error {
				return verifyLedger(ctx, cmd.OutOrStdout(), st.db, name)
			})
		},
	}
	cmd.Flags().StringVar(&name, "account", "", "name of one account (default: all)")
	return cmd
}

// checkLedgers checks the ledgers (accounts of the bookkeeping) of an API account; id "" is for all accounts.
// It also checks that transactions in a final state have their audit rows.
func checkLedgers(ctx context.Context, db *sqlstore.DB, id string) (wallet.Report, error) {
	r, err := wallet.Verify(ctx, db, id)
	if err != nil {
		return r, err
	}
	audited, err := wallet.VerifyAuditLog(ctx, db, id)
	r.FaultCount += audited.FaultCount
	r.Faults = append(r.Faults, audited.Faults...)
	return r, err
}

// verifyLedger checks and prints the ledgers of the named API account; name "" is for all accounts.
func verifyLedger(ctx context.Context, out io.Writer, db *sqlstore.DB, name string) error {
	all, err := access.ListAccounts(db.View(ctx))
	if err != nil {
		return err
	}
	names, id := map[string]string{}, ""
	for _, a := range all {
		names[a.ID] = a.Name
	}
	if name != "" {
		holder, err := access.AccountByName(db.View(ctx), name)
		if err != nil {
			return err
		}
		id = holder.ID
	}
	r, err := checkLedgers(ctx, db, id)
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
		return errReported
	}
	return nil
}

// printLedgers prints the sums of the ledgers.
func printLedgers(out io.Writer, r wallet.Report) error {
	if len(r.Ledgers) == 0 {
		return nil
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "MODE\tLEDGER\tSUM")
	for _, l := range r.Ledgers {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\n", l.World, l.Ledger, l.Sum.Rupees())
	}
	return table.Flush()
}
