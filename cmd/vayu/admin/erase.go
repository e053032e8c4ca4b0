package admin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"vayu/cmd/vayu/tool"
	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/subscription"
	"vayu/internal/access"
	"vayu/internal/access/account"
	"vayu/internal/access/audit"
	"vayu/internal/access/member"
	"vayu/internal/access/signup"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch"
	"vayu/pipeline/recharge"
	"vayu/pipeline/verify"
	"vayu/pipeline/wallet"
	"vayu/query/alert"
)

func newAccountErase() *cobra.Command {
	var sure bool
	cmd := &cobra.Command{
		Use:   "erase NAME --yes",
		Short: "Erase the personal data of a closed account, and print a proof",
		Long: `Erase the personal data of a closed account, and print a proof. An account is closed if it has no active keys, no
money in its live wallet, and no open recharges, verifications, batches, payments or alarms. Events, deliveries, verifications, members and
sessions are deleted. Names, numbers, addresses and references are removed from the other rows. Postings, amounts, bank references and the audit log
stay. It cannot be undone. If it was interrupted, run it again. Copies in backups, in Kafka and at receivers are not erased.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tool.WithKey(cmd, func(ctx context.Context, st *tool.State) error {
				holder, err := tool.AccountByName(st.DB.View(ctx), args[0])
				if err != nil {
					return err
				}
				if open, err := openMatters(st.DB.View(ctx), holder.ID, time.Now()); err != nil || len(open) > 0 {
					return errors.Join(err, notClosed(args[0], open))
				}
				if !sure {
					return fmt.Errorf("this erases the personal data of %s (%s) permanently: add --yes to do it", args[0], holder.ID)
				}
				done, err := eraseAccount(ctx, st.DB, holder.ID, tool.CommandActor)
				if err != nil {
					return err
				}
				return printErasure(cmd, holder.ID, done)
			})
		},
	}
	cmd.Flags().BoolVar(&sure, "yes", false, "erase without further questions")
	return cmd
}

// erasures returns the statements that erase the personal data of a closed account, one for each table. Because of
// their order, no remaining row ever refers to a deleted row.
func erasures() []sqlstore.Erasure {
	return slices.Concat(subscription.Personal(), delivery.Personal(), outbox.Personal(), verify.Personal(), batch.Personal(),
		recharge.Personal(), wallet.Personal(), alert.Personal(), signup.Personal(), member.Personal(), access.Personal())
}

// activeKeys is a query that counts the keys of account $1 that are valid at time $2.
const activeKeys = "SELECT count(*) FROM api_key WHERE account_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)"

// matters are queries that count what prevents the erasure of account $1, such as pending recharges. An account without
// open matters and without active keys is closed.
var matters = [...]struct{ name, query string }{
	{"paise in its live wallet", "SELECT CAST(COALESCE(sum(available + held), 0) AS BIGINT) FROM wallet WHERE account_id = $1 AND mode = 'live'"},
	{"open recharges", `SELECT count(*) FROM recharge WHERE account_id = $1
		AND (state = 'pending' OR due_at IS NOT NULL OR alarm <> '' AND resolved_at IS NULL)`},
	{"open verifications", "SELECT count(*) FROM verification WHERE account_id = $1 AND state = 'pending'"},
	{"open batches", "SELECT count(*) FROM batch WHERE account_id = $1 AND state <> 'completed'"},
	{"open payments", "SELECT count(*) FROM payment WHERE account_id = $1 AND state = 'pending'"},
}

// openMatters returns the reasons why an account is not closed, such as "2 active keys", or nil if it is closed.
func openMatters(q sqlstore.Querier, id string, now time.Time) (open []string, err error) {
	count := func(name, query string, args ...any) error {
		var n int64
		if err := q.QueryRow(query, args...).Scan(&n); err != nil {
			return fmt.Errorf("counting %s: %w", name, err)
		}
		if n > 0 {
			open = append(open, fmt.Sprintf("%d %s", n, name))
		}
		return nil
	}
	err = errors.Join(count("active keys", activeKeys+" AND member_id IS NULL", id, now.UnixMicro()),
		count("keys of members (vayu account member)", activeKeys+" AND member_id IS NOT NULL", id, now.UnixMicro()))
	for _, m := range matters {
		err = errors.Join(err, count(m.name, m.query, id))
	}
	return open, err
}

// notClosed returns an error that lists the open matters of an account, or nil if there are none.
func notClosed(name string, open []string) error {
	if len(open) == 0 {
		return nil
	}
	return fmt.Errorf("%s is not closed: it has %s", name, strings.Join(open, ", "))
}

// EraseClosed erases the personal data of an account on behalf of the service. It fails if the account is not closed.
func EraseClosed(ctx context.Context, db *sqlstore.DB, id string) error {
	open, err := openMatters(db.View(ctx), id, time.Now())
	if err = errors.Join(err, notClosed(id, open)); err == nil {
		_, err = eraseAccount(ctx, db, id, "service")
	}
	return err
}

// eraseAccount erases the personal data of an account. It appends an audit row with the number of erased rows by table.
func eraseAccount(ctx context.Context, db *sqlstore.DB, id, actor string) ([]sqlstore.Erased, error) {
	done, err := sqlstore.EraseAll(ctx, db, id, erasures())
	if err != nil {
		return nil, err
	}
	detail := map[string]any{}
	for _, e := range done {
		detail[e.Table] = e.Rows
	}
	err = db.Update(ctx, func(tx *sqlstore.Tx) error {
		entry, err := account.Erase(tx, id, detail)
		if err != nil {
			return err
		}
		entry.Actor = actor
		return audit.Append(tx, time.Now(), entry)
	})
	return done, err
}

// printErasure prints the number of erased rows in each table. It returns an error if personal data remain.
func printErasure(cmd *cobra.Command, id string, done []sqlstore.Erased) error {
	out := tool.NewTable(cmd.OutOrStdout(), "TABLE\tERASED\tLEFT")
	var left int64
	for _, e := range done {
		_, _ = fmt.Fprintf(out, "%s\t%d\t%d\n", e.Table, e.Rows, e.Left)
		left += e.Left
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d rows of %s still have personal data: something was written meanwhile; run the command again for erased-%s", left, id, id)
	}
	tool.PrintLinef(cmd, "erased", "%s: no row of these tables has personal data of it; the audit log has account.erase", id)
	return nil
}
