package wallet

import (
	"context"
	"fmt"

	"vayu/internal/sqlstore"
)

// VerifyAuditLog checks that every final recharge, payment and verification has its audit row. If
// account is "", it checks all accounts. The report has only faults. The error is as for [Verify].
func VerifyAuditLog(ctx context.Context, db *sqlstore.DB, account string) (Report, error) {
	return verifyAudited(db.View(ctx), account, verifyRows)
}

// verifyAudited is like VerifyAuditLog. rows is the maximum number of rows of a page.
func verifyAudited(view sqlstore.View, account string, rows int) (Report, error) {
	v := verifier{view: view, rows: rows}
	err := v.each(account, v.checkAuditLog)
	return v.report, err
}

// selectAudited lists the rows of a table by id. For each it selects whether the row is pending or
// has its audit row. The audit log has an index by subject.
const selectAudited = `SELECT id, state, state = 'pending' OR EXISTS (SELECT 1 FROM audit a
		WHERE a.account_id = t.account_id AND a.mode = t.mode AND a.subject = t.id AND a.action = '%[1]s.' || t.state)
	FROM %[1]s t WHERE account_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4`

// checkAuditLog checks that each final row of v.owner has its audit row. It reads the rows in
// pages. That is safe, because a row and its audit row are committed together.
func (v *verifier) checkAuditLog() error {
	for _, table := range []string{"recharge", "payment", "verification"} {
		statement := fmt.Sprintf(selectAudited, table)
		for after, more := "", true; more; {
			n := 0
			err := sqlstore.Each(v.view, func(row sqlstore.Scanner) error {
				var final string
				var found bool
				if err := row.Scan(&after, &final, &found); err != nil {
					return err
				}
				n++
				if !found {
					v.wrongf(after, "the audit log has no row %s.%s of it", table, final)
				}
				return nil
			}, statement, v.owner.Account, v.owner.World.String(), after, v.rows)
			if err != nil {
				return err
			}
			more = n == v.rows
		}
	}
	return nil
}
