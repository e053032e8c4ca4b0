package transaction

import (
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkTotals measures the totals of 100,000 recharges, beside a page of 1,000 of them.
func BenchmarkTotals(b *testing.B) {
	for engine, open := range map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres} {
		b.Run(engine, func(b *testing.B) {
			db, table := open(b), tables["recharge"]
			insertRows(b, db, "recharge", 3*totalsMost, "CASE WHEN i % 10 = 1 THEN 'failed' ELSE 'success' END")
			sqlstoretest.Exec(b, db, "ANALYZE")
			states := []string{"pending", "success", "failed", "refunded"}
			for name, state := range map[string]string{"all": "", "success": "success"} {
				f := second()
				f.State = state
				b.Run("totals, "+name, func(b *testing.B) {
					for b.Loop() {
						if all, err := table.Totals(db.View(b.Context()), f, states, totalsMost); err != nil || all.Count < totalsMost/2 {
							b.Fatal(all, err)
						}
					}
				})
			}
			b.Run("page", func(b *testing.B) {
				f := second()
				f.Limit = 1000
				for b.Loop() {
					if _, _, err := table.Page(db.View(b.Context()), f); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
