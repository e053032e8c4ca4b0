package forecast

import (
	"encoding/csv"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/testing/realdata"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// fixture is a migrated database of one test, with a Forecaster.
type fixture struct {
	testing.TB
	db   *columnstore.DB
	name string
	*Forecaster
}

func newFixture(t testing.TB) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	w := &fixture{TB: t, db: db, name: columnstoretest.Migrated(t, db)}
	var err error
	log := slog.New(slog.DiscardHandler)
	if _, ok := t.(*testing.B); ok {
		log = slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	if w.Forecaster, err = New(db.Conn(), w.name, log, prometheus.NewRegistry()); err != nil {
		t.Fatal(err)
	}
	return w
}

// run executes SQL, in which %[1]s stands for the database.
func (w *fixture) run(query string, args ...any) {
	w.Helper()
	if err := w.db.Conn().Exec(w.Context(), fmt.Sprintf(query, w.name), args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

// text returns the rows of a query of one text column.
func (w *fixture) text(query string) []string {
	w.Helper()
	rows, err := w.db.Conn().Query(w.Context(), fmt.Sprintf(query, w.name))
	if err != nil {
		w.Fatalf("%s: %v", query, err)
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

// day returns an Indian day.
func day(t testing.TB, text string) schema.Day {
	t.Helper()
	d, err := schema.ParseDay(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// cityDays stores days of cities as a roll-up does: a day with the amounts of pm25, pm10, no2, so2, co and o3.
// Missing amounts are nil.
type cityDay struct {
	city    string
	day     schema.Day
	aqi     uint16
	amounts [6]*float64
}

// index sets the AQI of a day by the rule of package naqi; 0 without one.
func (d *cityDay) index() {
	subs := naqi.None()
	for i, v := range d.amounts {
		if v != nil {
			if index, ok := naqi.SubIndex(air.RecordPollutants[i], *v); ok {
				subs[air.RecordPollutants[i]] = index
			}
		}
	}
	if aqi, _, ok := naqi.Index(subs); ok {
		d.aqi = uint16(aqi)
	}
}

func (w *fixture) cityDays(all []cityDay) {
	w.Helper()
	batch, err := w.db.Conn().PrepareBatch(w.Context(), "INSERT INTO "+w.name+".city_day (city, state, day, at, aqi, pm25, pm10, no2, so2, co, o3)")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = batch.Close() }()
	for _, d := range all {
		a := d.amounts
		if err := batch.Append(d.city, "", d.day.Start().Add(schema.IndiaOffset), d.day.End(), d.aqi, a[0], a[1], a[2], a[3], a[4], a[5]); err != nil {
			w.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		w.Fatal(err)
	}
}

// archive returns the city days of the public archive of 2015 to 2020.
func archive(t testing.TB) []cityDay {
	t.Helper()
	var all []cityDay
	for _, row := range table(t, "cpcb/city_day.csv") {
		d := cityDay{city: row["City"], day: day(t, row["Date"])}
		for i, column := range [...]string{"PM2.5", "PM10", "NO2", "SO2", "CO", "O3"} {
			if v, err := strconv.ParseFloat(row[column], 64); err == nil {
				d.amounts[i] = &v
			}
		}
		d.index()
		all = append(all, d)
	}
	return all
}

// table reads a file of real data as rows by column.
func table(t testing.TB, name string) []map[string]string {
	t.Helper()
	file, err := os.Open(realdata.Path(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	all := make([]map[string]string, 0, len(rows))
	for _, row := range rows[1:] {
		m := make(map[string]string, len(row))
		for i, v := range row {
			m[rows[0][i]] = v
		}
		all = append(all, m)
	}
	return all
}

// atMidnight is 00:00 IST after a day: the first time at which all of the day can be known.
func atMidnight(d schema.Day) time.Time { return d.End() }
