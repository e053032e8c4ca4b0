package dataset_test

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/query/dataset"
)

func TestMain(m *testing.M) { columnstoretest.Main(m) }

// fixture is a database with the tables of the air.
type fixture struct {
	conn     dataset.Conn
	exec     func(query string, args ...any)
	database string
}

func newFixture(tb testing.TB) *fixture {
	tb.Helper()
	db := columnstoretest.New(tb)
	w := &fixture{conn: db.Conn(), database: columnstoretest.Migrated(tb, db)}
	w.exec = func(query string, args ...any) {
		tb.Helper()
		if err := db.Conn().Exec(tb.Context(), fmt.Sprintf(query, append([]any{w.database}, args...)...)); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

// stations stores n public stations: s0 in Delhi, and the others in Pune.
func (w *fixture) stations(n int) {
	w.exec(`INSERT INTO %s.station (id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen)
		SELECT 's' || toString(number), 'made', 'Station, "' || toString(number) || '"', if(number = 0, 'Delhi', 'Pune'), if(number = 0, 'Delhi', 'Maharashtra'), 20, 78,
			'reference', if(number = 0, 'CPCB', 'MPCB'), 'open', 0, 1000 FROM numbers(%d)`, n)
}

// readings stores n readings of each station per parameter and 15 minutes, from 2026-09-01 on.
func (w *fixture) readings(stations, n int) {
	w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, flag, source, run)
		SELECT 's' || toString(number %% %[2]d) AS station, ['pm25', 'pm10', 'no2', 'o3'][1 + intDiv(number, %[2]d) %% 4], toDateTime('2026-09-01 00:00:00', 'UTC') + 900 * intDiv(number, 4 * %[2]d),
			round(cityHash64(number) %% 100000 / 100, 2), 'concentration', 15, 'plain', 'made', 7 FROM numbers(%[3]d)
		SETTINGS max_partitions_per_insert_block = 0`, stations, n*stations)
}

// write writes the selected rows in a format.
func (w *fixture) write(tb testing.TB, format string, s dataset.Selection, out io.Writer) (rows uint64) {
	tb.Helper()
	r, err := dataset.NewReader(tb.Context(), w.conn, w.database, s)
	if err != nil {
		tb.Fatal(err)
	}
	months, err := r.Months(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	schema := dataset.Schema(r.Columns, map[string]string{"vayu:table": s.Table.Name})
	f, err := dataset.Formats[format].New(out, schema)
	if err != nil {
		tb.Fatal(err)
	}
	if err := r.Each(tb.Context(), schema, months, f.Write); err != nil {
		tb.Fatal(err)
	}
	for _, m := range months {
		rows += m.Rows
	}
	if err := f.Close(); err != nil {
		tb.Fatal(err)
	}
	return rows
}

func (w *fixture) bytes(tb testing.TB, format string, s dataset.Selection) []byte {
	tb.Helper()
	var out bytes.Buffer
	w.write(tb, format, s, &out)
	return out.Bytes()
}

func table(tb testing.TB, name string) dataset.Table {
	tb.Helper()
	t, ok := dataset.Find(name)
	if !ok {
		tb.Fatalf("there is no table %s", name)
	}
	return t
}
