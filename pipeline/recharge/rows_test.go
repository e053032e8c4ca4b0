package recharge

import (
	"fmt"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// insertMany stores n recharges, alternating among three accounts; state is an expression
// of their number i.
func insertMany(t *testing.T, db *sqlstore.DB, n int, state string) {
	t.Helper()
	for i := range 3 {
		sqlstoretest.Exec(t, db, "INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'unlimited', '', 1, 1)", fmt.Sprintf("acc_%d", i))
	}
	sqlstoretest.Exec(t, db, `INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
			sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, token)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT 'txn_0000000000000000' || CAST(1000000000 + i AS TEXT), 'acc_' || CAST(i % 3 AS TEXT), 'live', CAST(i AS TEXT),
			`+state+`,
			'prepaid', '9876543210', '', 'Airtel', '', '', 1000, 'pending', CAST(i AS TEXT), '', 1, 0, 0, '', '', '', '', '', '', 0, i, i, '' FROM n`, n)
}

func crowdID(i int) string { return fmt.Sprintf("txn_0000000000000000%d", 1_000_000_000+i) }

// scanText scans a row of one text.
func scanText(row sqlstore.Scanner) (text string, err error) {
	err = row.Scan(&text)
	return text, err
}
