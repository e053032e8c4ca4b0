package airquality

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema/air"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// fixture is a migrated database of one test.
type fixture struct {
	testing.TB
	db     *columnstore.DB
	name   string
	rollup *Rollup
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	w := &fixture{TB: t, db: db, name: columnstoretest.Migrated(t, db)}
	w.rollup = newRollup(t, db, migration.Params{Database: w.name})
	return w
}

func newRollup(t testing.TB, db *columnstore.DB, tables migration.Params) *Rollup {
	t.Helper()
	rollup, err := New(Config{Conn: db.Conn(), Tables: tables, Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return rollup
}

func (w *fixture) exec(query string, args ...any) {
	w.Helper()
	if err := w.db.Conn().Exec(w.Context(), fmt.Sprintf(query, w.name), args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

func (w *fixture) station(id, city, state string) {
	w.Helper()
	w.exec("INSERT INTO %s.station (id, name, city, state, kind) VALUES (?, ?, ?, ?, 'reference')", id, id, city, state)
}

func (w *fixture) readings(all ...air.Reading) {
	w.Helper()
	w.storedAt(time.Now(), all...)
}

func (w *fixture) storedAt(stored time.Time, all ...air.Reading) {
	w.Helper()
	batch, err := w.db.Conn().PrepareBatch(w.Context(),
		fmt.Sprintf("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, source, ingested_at)", w.name))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for _, r := range all {
		if r.Averaging == 0 {
			r.Averaging = air.Hourly
		}
		if r.Kind == 0 {
			r.Kind = air.Concentration
		}
		if err := batch.Append(r.Station, r.Parameter.ID(), r.At, r.Value, r.Kind.String(), r.Averaging, "test", stored); err != nil {
			w.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) increment() Result {
	w.Helper()
	result, err := w.rollup.Update(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	return result
}

// figure is one row of station_hour.
type figure struct {
	Station    string
	At         time.Time
	Conc       [8]*float64
	Index      [8]*uint16
	AQI        *uint16
	Dominant   string
	Derived    uint8
	DailyMean  uint8
	LastUpdate time.Time
}

func (w *fixture) stationHours() []figure {
	w.Helper()
	rows, err := w.db.Conn().Query(context.Background(), fmt.Sprintf(`
		SELECT station, at, pm25, pm10, no2, so2, co, o3, nh3, pb,
			pm25_index, pm10_index, no2_index, so2_index, co_index, o3_index, nh3_index, pb_index,
			aqi, CAST(dominant, 'String'), derived, daily_mean, updated
		FROM %s.station_hour FINAL ORDER BY station, at`, w.name))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []figure
	for rows.Next() {
		var f figure
		dest := []any{&f.Station, &f.At}
		for i := range f.Conc {
			dest = append(dest, &f.Conc[i])
		}
		for i := range f.Index {
			dest = append(dest, &f.Index[i])
		}
		dest = append(dest, &f.AQI, &f.Dominant, &f.Derived, &f.DailyMean, &f.LastUpdate)
		if err := rows.Scan(dest...); err != nil {
			w.Fatal(err)
		}
		all = append(all, f)
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
	return all
}

// text returns a query's rows as text, for comparison.
func (w *fixture) text(query string) []string {
	w.Helper()
	rows, err := w.db.Conn().Query(w.Context(), fmt.Sprintf(query, w.name))
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var all []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			w.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
	return all
}

// hour returns the n-th hour end of a test's time, an Indian midnight at n = 0.
func hour(n int) time.Time {
	return time.Date(2025, 3, 9, 18, 30, 0, 0, time.UTC).Add(time.Duration(n) * time.Hour)
}
