package reconcile_test

import (
	"slices"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/pipeline/recharge/reconcile"
)

// TestQueriesUseIndices checks plans with enough rows that PostgreSQL prefers an index.
// SQLite has no statistics, as in production; its plan names the columns it searches.
func TestQueriesUseIndices(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		postgres := db.Name() == "postgres"
		if postgres {
			s := newStore(t, db)
			s.add(slices.Repeat([]row{{}, {provider: "other"}}, 10_000)...)
			s.add(row{state: "pending"}, row{alarm: "late_failure"})
			if err := db.Update(t.Context(), func(tx *sqlstore.Tx) error { _, err := tx.Exec("ANALYZE"); return err }); err != nil {
				t.Fatal(err)
			}
		}
		ids := slices.Repeat([]any{"txn_1"}, 16)
		for name, c := range map[string]struct {
			query, sqlite, postgres string
			args                    []any
		}{
			"by reference": {reconcile.ByReference, "recharge_reference (mode=? AND provider=? AND reference=?)", "recharge_reference", append([]any{"live", "agg"}, ids...)},
			"by id":        {reconcile.ByID, "sqlite_autoindex_recharge_1 (id=?)", "recharge_pkey", ids},
			"absent":       {reconcile.SelectAbsent, "recharge_reference (mode=? AND provider=? AND reference>? AND reference<?)", "recharge_reference", []any{"live", "agg", "txn_0Y", "txn_0Z", 1, int64(1) << 60, 500}},
			"providers":    {reconcile.SelectNext, "recharge_reference (mode=? AND provider>?)", "recharge_reference", []any{"live", "agg"}},
			"pending":      {reconcile.SelectPending, "recharge_pending", "recharge_pending", []any{"", "", "", "txn_1", 1, 500}},
			"alarms":       {reconcile.SelectAlarms, "recharge_alarm", "recharge_alarm", []any{"", "", 500}},
		} {
			t.Run(name, func(t *testing.T) {
				want := c.sqlite
				if postgres {
					want = c.postgres
				}
				got := sqlstoretest.Plan(t, db, c.query, c.args...)
				if !strings.Contains(got, want) || strings.Contains(got, "Seq Scan") || strings.Contains(got, "TEMP B-TREE") {
					t.Errorf("the query does not use %s alone:\n%s", want, got)
				}
			})
		}
	})
}
