package quality_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/pipeline/airquality/quality"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// fixture is a migrated database of one test.
type fixture struct {
	testing.TB
	db     *columnstore.DB
	name   string
	tester *quality.Tester
}

func newFixture(t testing.TB, settings quality.Settings) *fixture {
	t.Helper()
	db := columnstoretest.New(t)
	w := &fixture{TB: t, db: db, name: columnstoretest.Migrated(t, db)}
	w.readingTable()
	tester, err := quality.New(db.Conn(), w.name, settings)
	if err != nil {
		t.Fatal(err)
	}
	w.tester = tester
	return w
}

// readingTable adds column parameter to readings if the migrations lack it.
func (w *fixture) readingTable() {
	w.Helper()
	if w.count("SELECT count() FROM system.columns WHERE database = '%s' AND table = 'reading' AND name = 'parameter'") > 0 {
		return
	}
	w.exec("DROP TABLE %s.reading SYNC")
	w.exec(`CREATE TABLE %s.reading
		(
			station LowCardinality(String), parameter LowCardinality(String), at DateTime('UTC') CODEC(DoubleDelta, LZ4), value Float64,
			kind Enum8('concentration' = 1, 'sub_index' = 2), averaging UInt16, flag Enum8('plain' = 0, 'stuck' = 1, 'clipped' = 2),
			source LowCardinality(String), ingested_at DateTime64(3, 'UTC') DEFAULT now64(3), removed UInt8
		)
		ENGINE = ReplacingMergeTree(ingested_at, removed) PARTITION BY toYYYYMM(at) ORDER BY (station, parameter, at, kind, averaging)`)
}

// exec runs a statement whose %s is the database.
func (w *fixture) exec(query string, args ...any) {
	w.Helper()
	if err := w.db.Conn().Exec(w.Context(), fmt.Sprintf(query, w.name), args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

// count runs a query for one number; its %s is the database.
func (w *fixture) count(query string) uint64 {
	w.Helper()
	var n uint64
	if err := w.db.Conn().QueryRow(w.Context(), fmt.Sprintf(query, w.name)).Scan(&n); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	return n
}

// readings are columns of table reading.
type readings struct {
	station, parameter, source []string
	at                         []time.Time
	value                      []float64
	averaging                  []uint16
	removed                    []uint8
}

func (r *readings) add(station, parameter string, at time.Time, averaging uint16, value float64) {
	r.station, r.parameter, r.source = append(r.station, station), append(r.parameter, parameter), append(r.source, "test")
	r.at, r.value, r.averaging, r.removed = append(r.at, at), append(r.value, value), append(r.averaging, averaging), append(r.removed, 0)
}

var readingColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "LowCardinality(String)"}, {Name: "parameter", Type: "LowCardinality(String)"}, {Name: "at", Type: "DateTime('UTC')"},
	{Name: "value", Type: "Float64"}, {Name: "kind", Type: "String"}, {Name: "averaging", Type: "UInt16"},
	{Name: "source", Type: "LowCardinality(String)"}, {Name: "removed", Type: "UInt8"},
}

// store inserts readings, stamped by the engine's clock.
func (w *fixture) store(r *readings) {
	w.Helper()
	kind := make([]string, len(r.at))
	for i := range kind {
		kind[i] = "concentration"
	}
	err := columnstore.Insert(w.Context(), w.db.Conn(), w.name+".reading", columnstore.NewToken(), readingColumns,
		[]any{r.station, r.parameter, r.at, r.value, kind, r.averaging, r.source, r.removed})
	if err != nil {
		w.Fatal(err)
	}
}

func (w *fixture) run(from, to time.Time, stations ...string) {
	w.Helper()
	if err := w.tester.Run(w.Context(), stations, from, to); err != nil {
		w.Fatal(err)
	}
}

// results are the results of a station, one text each.
func (w *fixture) results(t testing.TB, station string) []string {
	t.Helper()
	rows, err := w.db.Conn().Query(context.WithoutCancel(t.Context()), fmt.Sprintf(`
		SELECT concat(formatDateTime(at, '%%H:%%i', 'UTC'), ' ', test, ' ', toString(flag), ': ', detail)
		FROM %[1]s.reading_quality FINAL WHERE station = ? ORDER BY parameter, at, test`, w.name), station)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	all := []string{}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}
