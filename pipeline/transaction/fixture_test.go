package transaction

import (
	"fmt"
	"math"
	"testing"
	"time"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// noon is the start time of tests.
var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// row is a row of either table.
type row struct {
	Base

	state string
}

// Status returns the state.
func (r *row) Status() string { return r.state }

func scanRow(from sqlstore.Scanner) (r row, err error) {
	var mode string
	var created int64
	err = from.Scan(&r.ID, &r.Owner.Account, &mode, &r.RefID, &r.state, &created)
	r.Owner.World, r.CreatedAt = schema.WorldOf(mode), time.UnixMicro(created).UTC()
	return r, err
}

// tableOf returns a table of the store.
func tableOf(name, prefix string) *Table[row, *row] {
	amount := ""
	if name == "recharge" {
		amount = "amount"
	}
	return &Table[row, *row]{
		Amount: amount, Name: name, Columns: "id, account_id, mode, COALESCE(ref_id, ''), state, created_at", Prefix: prefix, Unindexed: "success",
		Scan: scanRow,
	}
}

// tables are the listed tables, with the statements that fill them from the numbers i of
// n, and the indexes of a reference.
var tables = map[string]struct {
	*Table[row, *row]
	fill       string
	references []string
}{
	"recharge": {
		tableOf("recharge", "txn_"),
		`INSERT INTO recharge (id, account_id, mode, ref_id, state, type, number, asked, operator, circle, detection, amount, provider, reference, provider_ref,
			sent, tries, told_pending, error_code, error_message, alarm, refund_id, refund_reason, batch_id, batch_index, created_at, finished_at, token)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT %s, 'acc_' || CAST(i %% 3 AS TEXT), 'live', CAST(i AS TEXT), %s, 'prepaid', '98765' || CAST(10000 + i %% 1000 AS TEXT), '', 'Airtel', '', '', 1000, 'courier', CAST(i AS TEXT), '', 1, 0, 0, '', '', '', '', '', '', 0, i, i, '' FROM n`,
		[]string{"recharge_account_id_mode_ref_id_key ", "sqlite_autoindex_recharge_2 "},
	},
	"verification": {
		tableOf("verification", "ver_"),
		`INSERT INTO verification (id, account_id, mode, ref_id, digest, same, state, method, target, ifsc, named, threshold, provider, provider_ref, sent, tries, token, trouble,
			account_status, name_match, score, verified, beneficiary, bank, branch, reasons, utr, error_code, answered_by, key_id, batch_id, batch_index, created_at, finished_at)
		WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < $1)
		SELECT %s, 'acc_' || CAST(i %% 3 AS TEXT), 'live', CASE WHEN i %% 2 = 0 THEN NULL ELSE CAST(i AS TEXT) END, '\x00', '\x00', %s, 'upi', 'a@upi', '', 0, 70, 'bank', '', 0, 0, '', '',
			'', '', 0, 0, '', '', '', '', '', '', '', '', '', 0, i, i FROM n`,
		[]string{"verification_account_id_mode_ref_id_key ", "sqlite_autoindex_verification_2 "},
	},
}

// insertRows stores n rows, alternating among three accounts; stands is an expression of
// the state by the row number i.
func insertRows(t testing.TB, db *sqlstore.DB, name string, n int, stands string) {
	t.Helper()
	for i := range 3 {
		sqlstoretest.Exec(t, db, `INSERT INTO account (id, name, plan, allow_list, created_at, revision) VALUES ($1, $1, 'unlimited', '', 1, 1)
			ON CONFLICT DO NOTHING`, fmt.Sprintf("acc_%d", i))
	}
	table := tables[name]
	sqlstoretest.Exec(t, db, fmt.Sprintf(table.fill, "'"+table.Prefix+"0000000000000000' || CAST(1000000000 + i AS TEXT)", stands), n)
}

// rowID returns the id of row i.
func (t *Table[R, P]) rowID(i int) string {
	return fmt.Sprintf("%s0000000000000000%d", t.Prefix, 1_000_000_000+i)
}

// second returns a filter of all rows of the second account.
func second() Filter {
	return Filter{Owner: schema.Owner{Account: "acc_1"}, From: math.MinInt64, To: math.MaxInt64, Limit: 100}
}

// allPages reads all pages of a filter, and returns their ids.
func allPages(t *testing.T, db *sqlstore.DB, table *Table[row, *row], f Filter) (pages [][]string) {
	t.Helper()
	for {
		all, next, err := table.Page(db.View(t.Context()), f)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range all {
			ids = append(ids, r.ID)
		}
		pages = append(pages, ids)
		if f.After = next; next == "" {
			return pages
		}
	}
}
