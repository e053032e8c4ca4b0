package query_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"vayu/dispatch/outbox"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/query/alert/evaluation"
	"vayu/schema"
)

// BenchmarkAlertsOfPositions evaluates 100,000 alerts after a publication, each at a position of its own among 1,000
// stations. No alert changes. The limit is 2 s.
func BenchmarkAlertsOfPositions(b *testing.B) {
	const alerts, stations = 100_000, 1000
	w := countryFixture(b, 300, stations, 1)
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.forecast_issue (run, base, issued_at, fitted_at, forecasts) VALUES ('', toDate(%d), '2026-11-20 02:00:00', '2026-11-16 20:35:00', 1)`,
		w.live, schema.DayOf(now)-1))
	w.exec(b, fmt.Sprintf(`INSERT INTO %s.forecast (run, place_kind, place, state, parameter, day, horizon, model, served, p10, p50, p90, moderate, poor, history, fitted_at, issued_at)
		SELECT '', 'station', 'made-' || toString(number), '', 'aqi', toDate(%d) + horizon, horizon, 'persistence', 1, 80, 100, 120, 0.9, 0.1, 900, '2026-11-16 20:35:00', '2026-11-20 02:00:00'
		FROM numbers(%d) ARRAY JOIN [1, 2, 3, 4] AS horizon`, w.live, schema.DayOf(now)-1, stations))
	if err := w.service.RefreshForecasts(b.Context(), schema.Live); err != nil {
		b.Fatal(err)
	}
	for name, condition := range map[string]string{
		"aqi":      `{"metric":"aqi","over":450}`,
		"forecast": `{"metric":"forecast","over":0.5,"category":"Poor","day":1}`,
	} {
		b.Run(name, func(b *testing.B) {
			db := sqlstoretest.SQLite(b)
			addPositionAlerts(b, db, alerts, condition)
			at := now
			clock := func() time.Time { return at }
			e := evaluation.New(evaluation.Config{DB: db, Air: w.service.Air(), Events: outbox.New(outbox.Config{DB: db}), Now: clock})
			turn := func() {
				if err := e.Refresh(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			turn() // reads all alerts
			for b.Loop() {
				b.StopTimer()
				w.rollup(b, w.live, hour)
				w.refresh(b)
				at = at.Add(time.Minute)
				b.StartTimer()
				turn()
			}
		})
	}
}

// addPositionAlerts stores alerts of the live world at random positions.
func addPositionAlerts(b *testing.B, db *sqlstore.DB, alerts int, condition string) {
	b.Helper()
	tenant := accesstest.AddTenant(b, db, "tenant")
	random := rand.New(rand.NewPCG(1, 2))
	insert := sqlstore.NewBatchStatement(2, `INSERT INTO alert (id, account_id, mode, definition, active, state, level, before, hour, version, created_at, updated_at, revision) VALUES `,
		"(?, $1, 'live', ?, 1, 'ok', -1, -1, 0, 0, $2, $2, 1)", "")
	for from := 0; from < alerts; from += 1000 {
		if err := db.Update(b.Context(), func(tx *sqlstore.Tx) error {
			return insert.Each(1000, func(text string, low, high int) error {
				args := []any{tenant.ID, now.UnixMicro()}
				for i := low; i < high; i++ {
					point := fmt.Sprintf(`{"Latitude":%f,"Longitude":%f}`, 8+25*random.Float64(), 70+25*random.Float64())
					args = append(args, fmt.Sprintf("alt_%026d", from+i), strings.ReplaceAll(`{"place":{"name":"x","point":POINT},"condition":`, "POINT", point)+condition+`,"language":"en"}`)
				}
				_, err := tx.Exec(text, args...)
				return err
			})
		}); err != nil {
			b.Fatal(err)
		}
	}
}
