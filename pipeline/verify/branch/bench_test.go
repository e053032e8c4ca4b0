package branch

import (
	"fmt"
	"strings"
	"testing"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkImport imports 180,000 branches as large as those of the Reserve Bank's
// list, into an empty directory and into one that has them.
func BenchmarkImport(b *testing.B) {
	var text strings.Builder
	text.WriteString("BANK,IFSC,BRANCH,ADDRESS,CITY,DISTRICT,STATE\n")
	for i := range 180_000 {
		fmt.Fprintf(&text, "STATE BANK OF INDIA,SBIN0%06d,BRANCH NUMBER %d,\"%d MAHATMA GANDHI ROAD, NEAR THE HEAD POST OFFICE, PIN 411001\",PUNE,PUNE,MAHARASHTRA\n", i, i, i)
	}
	stores := map[string]func(testing.TB) *sqlstore.DB{"sqlite": sqlstoretest.SQLite, "postgres": sqlstoretest.Postgres}
	for name, open := range stores {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/again=%v", name, again), func(b *testing.B) {
				for b.Loop() {
					b.StopTimer()
					db := open(b)
					do := func() {
						if s, err := Import(b.Context(), db, strings.NewReader(text.String())); err != nil || s.Imported != 180_000 {
							b.Fatal(s, err)
						}
					}
					if again {
						do()
					}
					b.StartTimer()
					do()
				}
				b.ReportMetric(180_000*float64(b.N)/b.Elapsed().Seconds(), "branches/s")
			})
		}
	}
}
