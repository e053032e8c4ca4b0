package dataset_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/apache/arrow/go/v15/parquet/file"
	"github.com/apache/arrow/go/v15/parquet/pqarrow"
	"github.com/google/go-cmp/cmp"

	"vayu/query/dataset"
	"vayu/schema"
)

func day(tb testing.TB, text string) schema.Day {
	tb.Helper()
	d, err := schema.ParseDay(text)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

// odd stores rows with values that need quoting, are missing or are no numbers.
func odd(tb testing.TB) *fixture {
	tb.Helper()
	w := newFixture(tb)
	w.stations(3)
	w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, flag, source, ingested_at, run) VALUES
		('s1', 'pm25', '2026-10-31 23:45:00', 12.5, 'concentration', 15, 'stuck', 'a "b", c', '2026-11-01 00:00:00.120', 3),
		('s1', 'pm25', '2026-11-01 00:00:00', nan, 'sub_index', 60, 'plain', 'µ', '2026-11-01 00:00:01', 18446744073709551615),
		('s0', 'pm10', '2026-11-01 00:00:00', 1e21, 'concentration', 60, 'plain', '', '2026-11-01 00:00:01', 0)`)
	return w
}

func TestCSV(t *testing.T) {
	t.Parallel()
	want := `station,parameter,at,value,kind,averaging,flag,source,ingested_at,run
s1,pm25,2026-10-31T23:45:00Z,12.5,concentration,15,stuck,"a ""b"", c",2026-11-01T00:00:00.120Z,3
s0,pm10,2026-11-01T00:00:00Z,1000000000000000000000,concentration,60,plain,"",2026-11-01T00:00:01Z,0
s1,pm25,2026-11-01T00:00:00Z,NaN,sub_index,60,plain,µ,2026-11-01T00:00:01Z,18446744073709551615
`
	if diff := cmp.Diff(want, string(odd(t).bytes(t, "csv", dataset.Selection{Table: table(t, "reading")}))); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
}

func TestNDJSON(t *testing.T) {
	t.Parallel()
	want := `{"station":"s1","parameter":"pm25","at":"2026-10-31T23:45:00Z","value":12.5,"kind":"concentration","averaging":15,"flag":"stuck","source":"a \"b\", c","ingested_at":"2026-11-01T00:00:00.120Z","run":3}
{"station":"s0","parameter":"pm10","at":"2026-11-01T00:00:00Z","value":1000000000000000000000,"kind":"concentration","averaging":60,"flag":"plain","source":"","ingested_at":"2026-11-01T00:00:01Z","run":0}
{"station":"s1","parameter":"pm25","at":"2026-11-01T00:00:00Z","value":null,"kind":"sub_index","averaging":60,"flag":"plain","source":"µ","ingested_at":"2026-11-01T00:00:01Z","run":18446744073709551615}
`
	if diff := cmp.Diff(want, string(odd(t).bytes(t, "ndjson", dataset.Selection{Table: table(t, "reading")}))); diff != "" {
		t.Errorf("JSON lines (-want +got):\n%s", diff)
	}
}

// TestEveryTable writes each table in each format, with a row where that is easy to make.
func TestEveryTable(t *testing.T) {
	t.Parallel()
	w := odd(t)
	w.exec(`INSERT INTO %s.bulletin (day, name, city, state, until, aqi, category, prominent, source) VALUES ('2026-11-01', 'Delhi', 'Delhi', 'Delhi', '2026-11-01 10:30:00', 301, 'Very Poor', ['pm25', 'o"3'], 'cpcb')`)
	w.exec(`INSERT INTO %s.station_hour (station, at, pm25, pm25_index, aqi, dominant, updated) VALUES ('s0', '2026-11-01 00:30:00', 40.25, 67, NULL, 'pm25', '2026-11-01 00:30:00')`)
	w.exec(`INSERT INTO %s.station_parameter_hour (station, parameter, kind, at, mean, count, expected) VALUES ('s0', 'pm25', 'concentration', '2026-11-01 00:30:00', 2.5, 3, 4)`)
	w.exec(`INSERT INTO %s.station_parameter_day (station, parameter, day, mean, count, expected, hours, present) VALUES ('s0', 'pm25', '2026-11-01', 2.5, 2, 24, [2, 3.25], 3)`)
	want := map[string]string{
		"station_parameter_day":  `s0,pm25,2026-11-01,2.5,,,2,24,0.083333336,0,0,good,1970-01-01T00:00:00Z,`,
		"bulletin":               "2026-11-01,Delhi,Delhi,Delhi,2026-11-01T10:30:00Z,301,Very Poor,\"[\"\"pm25\"\",\"\"o\\\"\"3\"\"]\",0,0,cpcb,0,",
		"station_hour":           "s0,2026-11-01T00:30:00Z,40.25,,,,,,,,67,,,,,,,,,pm25,0,0,2026-11-01T00:30:00Z,",
		"station_parameter_hour": "s0,pm25,concentration,2026-11-01T00:30:00Z,2.5,,,3,4,0.75,0,0,good,0,1970-01-01T00:00:00Z,",
	}
	for _, name := range dataset.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, format := range dataset.FormatNames() {
				if got := w.bytes(t, format, dataset.Selection{Table: table(t, name)}); len(got) == 0 && format != "ndjson" {
					t.Errorf("the file as %s is empty", format)
				} else if format == "csv" && want[name] != "" {
					if _, row, _ := strings.Cut(string(got), "\n"); !strings.HasPrefix(row, want[name]) {
						t.Errorf("the row is\n%s, want\n%s", row, want[name])
					}
				}
			}
		})
	}
}

func TestSelection(t *testing.T) {
	t.Parallel()
	w := odd(t)
	w.exec(`INSERT INTO %s.pushed_station (account, station, id, name, city, state, latitude, longitude, kind, licence, attribution, published)
		VALUES ('acc_1', 'roof', 'private', 'Roof', 'Pune', 'Maharashtra', 18.5, 73.8, 'sensor', '', '', 0)`)
	w.exec(`INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, flag, source) VALUES ('private', 'pm25', '2026-11-01 00:00:00', 1, 'concentration', 60, 'plain', 'push')`)
	readings := dataset.Selection{Table: table(t, "reading")}
	for name, c := range map[string]struct {
		change func(s *dataset.Selection)
		want   string // first cells of the rows
	}{
		"all":          {func(*dataset.Selection) {}, "s1 s0 s1"},
		"own":          {func(s *dataset.Selection) { s.Account = "acc_1" }, "s1 private s0 s1"},
		"other":        {func(s *dataset.Selection) { s.Account = "acc_2" }, "s1 s0 s1"},
		"city":         {func(s *dataset.Selection) { s.City, s.State = "Delhi", "Delhi" }, "s0"},
		"own in city":  {func(s *dataset.Selection) { s.Account, s.State = "acc_1", "Maharashtra" }, "s1 private s1"},
		"station":      {func(s *dataset.Selection) { s.Station = "s0" }, "s0"},
		"private":      {func(s *dataset.Selection) { s.Station = "private" }, ""},
		"parameter":    {func(s *dataset.Selection) { s.Parameters = []string{"pm10"} }, "s0"},
		"from":         {func(s *dataset.Selection) { s.From = day(t, "2026-11-01") }, "s1 s0 s1"},
		"from the 2nd": {func(s *dataset.Selection) { s.From = day(t, "2026-11-02") }, ""},
		"to":           {func(s *dataset.Selection) { s.To = day(t, "2026-10-31") }, ""},
		"both":         {func(s *dataset.Selection) { s.From, s.To = day(t, "2026-11-01"), day(t, "2026-11-01") }, "s1 s0 s1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := readings
			c.change(&s)
			var got []string
			for i, line := range strings.Split(strings.TrimSpace(string(w.bytes(t, "csv", s))), "\n") {
				if station, _, _ := strings.Cut(line, ","); i > 0 {
					got = append(got, station)
				}
			}
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("stations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestParametersChooseColumnsOfWideTables(t *testing.T) {
	t.Parallel()
	header, _, _ := strings.Cut(string(newFixture(t).bytes(t, "csv", dataset.Selection{Table: table(t, "city_day"), Parameters: []string{"o3", "pm25"}})), "\n")
	want := "city,state,day,at,pm25,o3,pm25_index,o3_index,aqi,dominant,stations_used,stations_total,derived,daily_mean,updated,computed_at"
	if header != want {
		t.Errorf("columns %s, want %s", header, want)
	}
}

// TestBytesDoNotDependOnParts writes the same rows before and after ClickHouse has merged their parts. Several records
// are full.
func TestBytesDoNotDependOnParts(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stations(10)
	w.readings(10, 20_000)
	w.exec("INSERT INTO %s.reading SELECT * REPLACE (value + 1 AS value, now64(3) AS ingested_at) FROM %[1]s.reading WHERE rand() %% 7 = 0")
	w.exec("INSERT INTO %s.reading (station, parameter, at, value, kind, averaging, flag, source, removed) SELECT station, parameter, at, 0, kind, averaging, flag, source, 1 FROM %[1]s.reading FINAL WHERE station = 's3'")
	before := map[string][]byte{}
	for _, format := range dataset.FormatNames() {
		before[format] = w.bytes(t, format, dataset.Selection{Table: table(t, "reading")})
	}
	w.exec("OPTIMIZE TABLE %s.reading FINAL")
	for _, format := range dataset.FormatNames() {
		if after := w.bytes(t, format, dataset.Selection{Table: table(t, "reading")}); !bytes.Equal(after, before[format]) {
			t.Errorf("%s: %d bytes after the merge differ from %d before", format, len(after), len(before[format]))
		}
	}
	if n := bytes.Count(before["csv"], []byte("\n")); n != 180_001 {
		t.Errorf("%d lines, want 180001", n)
	}
}

// TestMonths checks that a month has another version exactly if a row has changed.
func TestMonths(t *testing.T) {
	t.Parallel()
	w := odd(t)
	months := func() []dataset.Month {
		t.Helper()
		r, err := dataset.NewReader(t.Context(), w.conn, w.database, dataset.Selection{Table: table(t, "reading")})
		if err != nil {
			t.Fatal(err)
		}
		m, err := r.Months(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	first := months()
	if len(first) != 2 || first[0].Month != 202610 || first[1].Rows != 2 {
		t.Fatalf("months %+v, want October with a row and November with two", first)
	}
	if want := time.Date(2026, 11, 1, 0, 0, 1, 0, time.UTC); !first[1].Changed.Equal(want) {
		t.Errorf("changed at %s, want %s", first[1].Changed, want)
	}
	w.exec("OPTIMIZE TABLE %s.reading FINAL")
	if diff := cmp.Diff(first, months()); diff != "" {
		t.Errorf("a merge changes the months (-before +after):\n%s", diff)
	}
	w.exec("INSERT INTO %s.reading SELECT * REPLACE (7 AS value, now64(3) AS ingested_at) FROM %[1]s.reading WHERE station = 's0'")
	if after := months(); after[1].Hash == first[1].Hash || after[0] != first[0] {
		t.Errorf("after a correction in November %+v, before %+v", after, first)
	}
}

func TestParquetHasTypesAndFacts(t *testing.T) {
	t.Parallel()
	w := odd(t)
	data := w.bytes(t, "parquet", dataset.Selection{Table: table(t, "reading")})
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.MetaData().KeyValueMetadata().FindValue("vayu:table"); got == nil || *got != "reading" {
		t.Errorf("the metadata vayu:table is %v, want reading", got)
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Schema()
	if err != nil {
		t.Fatal(err)
	}
	checkReadingTypes(t, s)
	if comment, _ := s.Field(3).Metadata.GetValue("comment"); !strings.Contains(comment, "unit of the parameter") {
		t.Errorf("the comment of value is %q, want that of the table", comment)
	}
}

func TestArrowHasTypes(t *testing.T) {
	t.Parallel()
	r, err := ipc.NewReader(bytes.NewReader(odd(t).bytes(t, "arrow", dataset.Selection{Table: table(t, "reading")})))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	checkReadingTypes(t, r.Schema())
	rows := int64(0)
	for r.Next() {
		rows += r.Record().NumRows()
	}
	if rows != 3 || r.Err() != nil {
		t.Errorf("%d rows, error %v, want 3", rows, r.Err())
	}
}

func checkReadingTypes(t *testing.T, s *arrow.Schema) {
	t.Helper()
	got := map[string]string{}
	for _, f := range s.Fields() {
		got[f.Name] = f.Type.String()
	}
	want := map[string]string{
		"station": "utf8", "parameter": "utf8", "at": "timestamp[ms, tz=UTC]", "value": "float64", "kind": "utf8", "averaging": "uint16",
		"flag": "utf8", "source": "utf8", "ingested_at": "timestamp[ms, tz=UTC]", "run": "uint64",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("types (-want +got):\n%s", diff)
	}
}

func TestLicences(t *testing.T) {
	t.Parallel()
	w := odd(t)
	for name, want := range map[string][]dataset.Licence{
		"reading": {{Licence: "open", Attribution: "CPCB"}, {Licence: "open", Attribution: "MPCB"}}, "city_day": nil, "parameter": nil,
	} {
		r, err := dataset.NewReader(t.Context(), w.conn, w.database, dataset.Selection{Table: table(t, name)})
		if err != nil {
			t.Fatal(err)
		}
		got, err := r.Licences(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: licences (-want +got):\n%s", name, diff)
		}
	}
}

// rowsOnly is a connection over the native protocol, which has no formats.
type rowsOnly struct{ dataset.Conn }

func (rowsOnly) QueryFormat(context.Context, string, string, ...any) (io.ReadCloser, error) {
	return nil, clickhouse.ErrFormatNativeUnsupported
}

func TestNativeProtocolYieldsTheSameBytes(t *testing.T) {
	t.Parallel()
	w := odd(t)
	w.exec(`INSERT INTO %s.bulletin (day, name, city, state, until, aqi, category, prominent, source) VALUES ('2026-11-01', 'Delhi', 'Delhi', 'Delhi', '2026-11-01 10:30:00', 301, 'Very Poor', ['pm25', 'o3'], 'cpcb')`)
	w.exec(`INSERT INTO %s.station_hour (station, at, pm25, pm25_index, aqi, dominant, updated) VALUES ('s0', '2026-11-01 00:30:00', 40.25, 67, NULL, 'pm25', '2026-11-01 00:30:00')`)
	w.readings(2, 40_000)
	for _, name := range dataset.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := dataset.Selection{Table: table(t, name)}
			rows := *w
			rows.conn = rowsOnly{w.conn}
			if got, want := rows.bytes(t, "parquet", s), w.bytes(t, "parquet", s); !bytes.Equal(got, want) {
				t.Errorf("%d bytes, want the %d of blocks", len(got), len(want))
			}
		})
	}
}

func FuzzBlocks(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte("\x09\x01\x010\x16LowCardinality(String)\x01\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x02s1\x01\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(_ *testing.T, data []byte) { _ = dataset.DecodeBlocks(data) })
}

// count returns the number of rows that SQL has of a table.
func (w *fixture) count(t *testing.T, table string) (n uint64) {
	t.Helper()
	rows, err := w.conn.Query(t.Context(), "SELECT count() FROM "+w.database+"."+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestViews compares each exported view with SQL: its rows, and those of a city. The bytes are the same each time.
func TestViews(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.stations(2)
	w.exec(`INSERT INTO %s.station_parameter_day (station, parameter, day, mean, count, expected, flag, hours, present, max_8h)
		SELECT 's' || toString(number %% 2), 'o3', toDate('2023-01-01') + intDiv(number, 2), 40 + number / 7, 24, 24, 'good', arrayWithConstant(24, 40 + number / 7), 16777215, 40 + number / 7
		FROM numbers(2 * 1096) SETTINGS max_partitions_per_insert_block = 0`)
	views := 0
	for _, of := range dataset.Tables {
		if !of.Derived {
			continue
		}
		views++
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			rows := w.count(t, of.Name)
			var first, again bytes.Buffer
			if got := w.write(t, "csv", dataset.Selection{Table: of}, &first); got != rows || rows == 0 {
				t.Errorf("got %d rows, want %d", got, rows)
			}
			w.write(t, "csv", dataset.Selection{Table: of}, &again)
			if !bytes.Equal(first.Bytes(), again.Bytes()) {
				t.Error("two exports differ")
			}
			if !of.City {
				return
			}
			if got := w.write(t, "parquet", dataset.Selection{Table: of, City: "Nowhere", State: "Nowhere"}, io.Discard); got != 0 {
				t.Errorf("got %d rows of a city without stations, want 0", got)
			}
		})
	}
	if views != 11 {
		t.Errorf("got %d views, want 11", views)
	}
}
