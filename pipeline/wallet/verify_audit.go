package wallet

import (
	"context"
	"fmt"

	"vayu/internal/sqlstore"
)

// VerifyAuditLog checks that every final recharge, payment and verification has its audit row, for
// all accounts or the given one. The report has faults only. The error is as with [Verify].
func VerifyAuditLog(ctx context.Context, db *sqlstore.DB, account string) (Report, error) {
	return verifyAudited(db.View(ctx), account, verifyRows)
}

// verifyAudited is VerifyAuditLog with a limit of rows per statement, which tests reduce.
func verifyAudited(view sqlstore.View, account string, rows int) (Report, error) {
	v := verifier{view: view, rows: rows}
	err := v.each(account, v.checkAuditLog)
	return v.report, err
}

// selectAudited lists the rows of a table by id, and whether each has its audit row. The audit
// log has an index of subjects.
const selectAudited = `SELECT id, state, state = 'pending' OR EXISTS (SELECT 1 FROM audit a
		WHERE a.account_id = t.account_id AND a.mode = t.mode AND a.subject = t.id AND a.action = '%[1]s.' || t.state)
	FROM %[1]s t WHERE account_id = $1 AND mode = $2 AND id > $3 ORDER BY id LIMIT $4`

// checkAuditLog compares the final rows of an account's world with its audit log, in pages. A
// row and its audit row are committed together.
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
