package delivery_test

import (
	"strings"
	"testing"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// The tables are large enough that PostgreSQL does not prefer a scan.
func TestStatementsUseIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertWaiting(t, db, 20_000, 100)
		sqlstoretest.Exec(t, db, "ANALYZE")
		group := func(columns int, values ...any) (args []any) {
			for range 16 {
				args = append(args, values[:columns]...)
			}
			return args
		}
		claim, release := delivery.LeaseStatements()
		for name, c := range map[string]struct {
			query, index string
			args         []any
		}{
			"due":     {delivery.SelectDue, "delivery_due", []any{"wh", 1, 10}},
			"before":  {delivery.SelectBefore, "delivery_due", []any{"wh", 1}},
			"after":   {delivery.SelectAfter, "delivery_due", []any{"wh", 1, "token"}},
			"lanes":   {delivery.SelectLanes, "delivery_due", nil},
			"record":  {delivery.RecordOutcomes(), "delivery", group(6, "dlv", "token", "failed", 1, nil, 5)},
			"claim":   {claim, "delivery", append([]any{1, "token"}, group(1, "dlv")...)},
			"release": {release, "delivery", group(3, "dlv", "token", 1)},
		} {
			t.Run(name, func(t *testing.T) {
				got := sqlstoretest.Plan(t, db, c.query, c.args...)
				for line := range strings.Lines(got) {
					if (strings.Contains(line, "SCAN d") || strings.Contains(line, "SCAN t") || strings.Contains(line, "Seq Scan on delivery")) && !strings.Contains(line, "USING") {
						t.Errorf("the query reads the whole table:\n%s", got)
					}
				}
				if !strings.Contains(got, c.index) {
					t.Errorf("the query does not use %s:\n%s", c.index, got)
				}
			})
		}
	})
}

// wantPlan requires that a statement uses indexes.
func wantPlan(t *testing.T, db *sqlstore.DB, query string, args []any, indices ...string) {
	t.Helper()
	got := sqlstoretest.Plan(t, db, query, args...)
	for _, index := range indices {
		if !strings.Contains(got, index+" ") {
			t.Errorf("the statement does not use %s:\n%s\n%s", index, query, got)
		}
	}
}
