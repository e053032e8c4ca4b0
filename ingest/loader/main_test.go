package loader_test

import (
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/ingest"
	"vayu/ingest/journal"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

const day = 24 * time.Hour

// now is the current time of every test.
var now = time.Date(2026, 1, 20, 6, 0, 0, 0, time.UTC)

// database creates a migrated database for one test.
func database(tb testing.TB) (driver.Conn, string) {
	tb.Helper()
	db := columnstoretest.New(tb)
	return db.Conn(), columnstoretest.Migrated(tb, db)
}

// newJournal returns a journal in a database of its own.
func newJournal(tb testing.TB) *journal.Journal {
	tb.Helper()
	db := columnstoretest.New(tb)
	params := migration.Params{Database: columnstoretest.Database(tb, db), Files: clickhouse.OpsFiles()}
	if err := migration.Apply(tb.Context(), db, params); err != nil {
		tb.Fatal(err)
	}
	return journal.New(db.Conn(), params.Database, schema.Live)
}

// count runs a query that returns one number.
func count(tb testing.TB, conn driver.Conn, query string) int {
	tb.Helper()
	var n uint64
	if err := conn.QueryRow(tb.Context(), query).Scan(&n); err != nil {
		tb.Fatal(err)
	}
	return int(n)
}

// station returns a test station.
func station(id string) air.Station {
	return air.Station{
		ID: id, Name: id, City: "Pune", State: "Maharashtra", Latitude: 18.52, Longitude: 73.86,
		Kind: air.Reference, Attribution: "MPCB", Licence: "GODL-India",
	}
}

func concentration(p air.Pollutant, at time.Time, value float64) air.Reading {
	return air.Reading{Parameter: p.Parameter(), At: at, Value: value, Kind: air.Concentration, Averaging: air.Hourly}
}

// batchOf builds a single batch with readings of a station.
func batchOf(tb testing.TB, source string, s air.Station, readings ...air.Reading) *ingest.Batch {
	tb.Helper()
	var out *ingest.Batch
	b := ingest.NewBuilder(source, now, func(batch *ingest.Batch) error { out = batch; return nil })
	n := b.Station(s)
	for _, r := range readings {
		if err := b.Add(n, r); err != nil {
			tb.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(out.Release)
	return out
}

// storedStation reads the only stored station.
func storedStation(tb testing.TB, conn driver.Conn, name string) air.Station {
	tb.Helper()
	var s air.Station
	var kind, place int8
	row := conn.QueryRow(tb.Context(), "SELECT id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen, "+
		"position_source, place_source, same_as FROM "+name+".station FINAL")
	if err := row.Scan(&s.ID, &s.Source, &s.Name, &s.City, &s.State, &s.Latitude, &s.Longitude, &kind, &s.Attribution, &s.Licence, &s.FirstSeen, &s.LastSeen,
		&s.PositionSource, &place, &s.SameAs); err != nil {
		tb.Fatal(err)
	}
	s.ByPosition = place == 1
	s.Kind, s.FirstSeen, s.LastSeen = air.StationKind(kind), s.FirstSeen.UTC(), s.LastSeen.UTC()
	return s
}
