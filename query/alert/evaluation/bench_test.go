package evaluation_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
)

// BenchmarkEvaluation evaluates 100,000 alerts of 300 cities after a publication. "quiet" is an hour that changes no
// alert. "changes" is an hour in which one alert of a hundred changes, with its events.
func BenchmarkEvaluation(b *testing.B) {
	const alerts, cities = 100_000, 300
	db := sqlstoretest.SQLite(b)
	f := &fixture{db: db, air: &fakeAir{past: make(map[string]map[uint32]int)}, now: start, tenant: accesstest.AddTenant(b, db, "tenant")}
	f.outbox(b)
	insert := sqlstore.NewBatchStatement(2, `INSERT INTO alert (id, account_id, mode, definition, active, state, level, before, hour, version, created_at, updated_at, revision) VALUES `,
		"(?, $1, 'sandbox', ?, 1, 'ok', -1, -1, 0, 0, $2, $2, 1)", "")
	random := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < alerts; from += 1000 {
		if err := db.Update(b.Context(), func(tx *sqlstore.Tx) error {
			return insert.Each(1000, func(text string, low, high int) error {
				args := []any{f.tenant.ID, start.UnixMicro()}
				for i := low; i < high; i++ {
					n := from + i
					args = append(args, fmt.Sprintf("alt_%026d", n), fmt.Sprintf(
						`{"place":{"city":"city %d","name":"x"},"condition":{"metric":"aqi","over":%d},"language":"en"}`, n%cities, 200+random.IntN(100)))
				}
				_, err := tx.Exec(text, args...)
				return err
			})
		}); err != nil {
			b.Fatal(err)
		}
	}
	aqi := func(n int) map[string]int {
		all := make(map[string]int, cities)
		for i := range cities {
			all[fmt.Sprintf("city %d", i)] = n
		}
		return all
	}
	f.restart()
	hour := 0
	publish := func(b *testing.B, n int) {
		b.Helper()
		f.air.publish(hour, aqi(n))
		f.now = start.Add(time.Duration(hour) * time.Hour)
		hour++
		if err := f.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	publish(b, 100)
	b.Run("quiet", func(b *testing.B) {
		for b.Loop() {
			publish(b, 100)
		}
	})
	b.Run("changes", func(b *testing.B) {
		for n := 0; b.Loop(); n++ {
			publish(b, 201+n%2)
		}
	})
}
