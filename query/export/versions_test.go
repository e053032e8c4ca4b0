package export_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/query/dataset"
	"vayu/query/export"
	"vayu/schema"
)

// changing calls change before one of its queries of rows.
type changing struct {
	dataset.Conn

	queries atomic.Int32
	before  int32 // number of that query, from 1 on
	change  func()
}

func (c *changing) QueryFormat(ctx context.Context, format, query string, args ...any) (io.ReadCloser, error) {
	if c.queries.Add(1) == c.before {
		c.change()
	}
	return c.Conn.QueryFormat(ctx, format, query, args...)
}

// correct changes a reading of a month, such as 202610.
func (w *fixture) correct(month int) {
	w.exec(fmt.Sprintf("INSERT INTO air.reading SELECT * REPLACE (value + 1 AS value, now64(3) AS ingested_at) FROM air.reading FINAL WHERE toYYYYMM(at) = %d LIMIT 1", month))
}

// TestUnknownBeginningsAreNotContinued asks an instance that has not sent the beginning of a file. Rows may have been
// removed since, which leaves no trace in the newest version of a row.
func TestUnknownBeginningsAreNotContinued(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const path = "reading?format=csv&station=s2"
	_, header, whole := w.get(t, path)
	w.serve(t)
	status, _, body := w.get(t, path, "Range", "bytes=100-")
	if status != http.StatusPreconditionFailed {
		t.Errorf("status %d without the version, want 412: %.200s", status, body)
	}
	if tag := header.Get("ETag"); !strings.Contains(string(body), "If-Range") || strings.Contains(string(body), strings.Trim(tag, `"`)) {
		t.Errorf("the reply is %s, want that it names If-Range and not the present version, which may be another one", body)
	}
	status, _, rest := w.get(t, path, "Range", "bytes=100-", "If-Range", header.Get("ETag"))
	if status != http.StatusPartialContent || !bytes.Equal(rest, whole[100:]) {
		t.Errorf("status %d with the version, want 206; the rest has %d bytes (-want +got):\n%s", status, len(rest), cmp.Diff(whole[100:], rest))
	}
	w.serve(t)
	status, _, body = w.get(t, path, "Range", "bytes=0-")
	if status != http.StatusPartialContent || !bytes.Equal(body, whole) {
		t.Errorf("status %d of a range from the first byte on, want 206; %d bytes (-want +got):\n%s", status, len(body), cmp.Diff(whole, body))
	}
}

// TestTwoBegunVersionsAreAmbiguous begins two versions of a file. A range without a version can belong to either.
func TestTwoBegunVersionsAreAmbiguous(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const path = "reading?format=csv&station=s1"
	w.get(t, path)
	w.exec("INSERT INTO air.reading SELECT * REPLACE (value + 1 AS value, now64(3) AS ingested_at) FROM air.reading WHERE station = 's1' LIMIT 1")
	_, header, _ := w.get(t, path)
	if status, _, body := w.get(t, path, "Range", "bytes=100-"); status != http.StatusPreconditionFailed || !strings.Contains(string(body), "If-Range") {
		t.Errorf("status %d, want 412 that names If-Range: %.300s", status, body)
	}
	if status, _, _ := w.get(t, path, "Range", "bytes=100-", "If-Range", header.Get("ETag")); status != http.StatusPartialContent {
		t.Errorf("status %d with the version, want 206", status)
	}
}

// TestFileIsOfOneMoment changes a month that was already read, or that is read later, while a file of two months is
// written.
func TestFileIsOfOneMoment(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		month  int // that changes before the second month is read
		offset int64
		want   error
	}{
		"a month before":             {month: 202610, want: export.ErrChanged},
		"the month that is read":     {month: 202611},
		"a month before, continued":  {month: 202610, offset: 1000, want: export.ErrChanged},
		"the last month, continued":  {month: 202611, offset: 1000, want: export.ErrChanged},
		"the last month, at its end": {month: 202611, offset: -1, want: export.ErrChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newFixture(t)
			r, err := export.Resolve(t.Context(), w.conn, w.database, export.Query{Table: "reading", Format: "parquet", Today: schema.DayOf(now)})
			if err != nil {
				t.Fatal(err)
			}
			conn := &changing{Conn: w.conn, before: 2, change: func() { w.correct(c.month) }}
			e, err := export.Open(t.Context(), conn, w.database, r)
			if err != nil {
				t.Fatal(err)
			}
			if c.offset < 0 {
				conn.before = 4 // Size reads both months
				size, err := e.Size(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				c.offset = size - 10
			}
			rows, err := e.Write(t.Context(), io.Discard, c.offset)
			if !errors.Is(err, c.want) {
				t.Errorf("error %v, want %v", err, c.want)
			}
			if err == nil && rows != e.Rows {
				t.Errorf("%d rows written, want %d", rows, e.Rows)
			}
		})
	}
}

// TestRowsThatAreWrittenAreCounted stores a row after Open. The number of rows is that of the file.
func TestRowsThatAreWrittenAreCounted(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	r, err := export.Resolve(t.Context(), w.conn, w.database, export.Query{Table: "station", Format: "csv", Today: schema.DayOf(now)})
	if err != nil {
		t.Fatal(err)
	}
	e, err := export.Open(t.Context(), w.conn, w.database, r)
	if err != nil {
		t.Fatal(err)
	}
	w.exec("INSERT INTO air.station (id, source, name, kind, first_seen, last_seen) VALUES ('s9', 'made', 'Nine', 'sensor', 0, 1000)")
	var out bytes.Buffer
	rows, err := e.Write(t.Context(), &out, 0)
	if want := uint64(bytes.Count(out.Bytes(), []byte("\n")) - 1); err != nil || rows != want || rows != 6 {
		t.Errorf("%d rows, error %v, want the %d of the file", rows, err, want)
	}
}

// TestRangesCountByTheirShare reads parts of a file that was begun.
func TestRangesCountByTheirShare(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	_, header, whole := w.get(t, "reading?format=csv")
	for _, part := range []string{"bytes=0-", fmt.Sprintf("bytes=%d-", len(whole)/2), "bytes=-1000"} {
		if status, _, _ := w.get(t, "reading?format=csv", "Range", part, "If-Range", header.Get("ETag")); status != http.StatusPartialContent {
			t.Errorf("status %d of %s, want 206", status, part)
		}
	}
	if diff := cmp.Diff([]int64{1, 15, 30, 30}, w.ended()); diff != "" {
		t.Errorf("counted calls (-want +got):\n%s", diff)
	}
}

// TestFormerNamesAreUnknown asks for the state that a station had before, and for its present one.
func TestFormerNamesAreUnknown(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec("SYSTEM STOP MERGES air.station")
	w.exec(`INSERT INTO air.station (id, source, name, city, state, latitude, longitude, kind, first_seen, last_seen)
		VALUES ('s0', 'made', 'S', 'Panaji', 'Goa', 20, 78, 'reference', 0, 2000)`)
	for path, want := range map[string]int{"reading?format=csv&state=Delhi": 404, "reading?format=csv&state=Goa": 200} {
		if status, _, body := w.get(t, path); status != want {
			t.Errorf("%s: status %d, want %d: %.200s", path, status, want, body)
		}
	}
}

// TestViewsKeepTheirVersion exports views after roll-ups that change no row of the file. A roll-up stores rows of days
// again, and ClickHouse merges them later. Both change the order in which a view sums the days.
func TestViewsKeepTheirVersion(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	const rows = `station_parameter_day (station, parameter, day, mean, count, expected, flag, hours, present, max_8h)
		SELECT 's' || toString(number % 2) AS s, 'pm25', toDate('2022-01-01') + intDiv(number, 2), cityHash64(number) % 9999 / 7 AS m, 24, 24, 'good', arrayMap(i -> m + i / 3, range(24)), 16777215, m
		FROM numbers(2 * 1096) WHERE `
	w.exec("INSERT INTO air." + rows + "1")
	type version struct{ tag, body string }
	before := map[string]version{}
	for _, of := range dataset.Tables {
		if of.Derived && of.City {
			path := of.Name + "?format=csv&state=Maharashtra"
			_, header, body := w.get(t, path)
			if bytes.Count(body, []byte("\n")) < 2 {
				t.Errorf("%s has no rows: %s", path, body)
			}
			before[path] = version{header.Get("ETag"), string(body)}
		}
	}
	for _, change := range []struct{ name, query string }{
		{"roll-up of another place", "INSERT INTO air." + rows + "s = 's0'"},
		{"roll-up of the place", "INSERT INTO air." + rows + "s = 's1' AND number % 5 = 1"},
		{"merge", "OPTIMIZE TABLE air.station_parameter_day FINAL"},
	} {
		w.exec(change.query)
		for path, whole := range before {
			if status, _, _ := w.get(t, path, "If-None-Match", whole.tag); status != http.StatusNotModified {
				t.Errorf("%s after a %s: status %d, want 304", path, change.name, status)
			}
		}
	}
	for path, whole := range before { // one after another: the slot of views is free as soon as a range is complete
		status, _, rest := w.get(t, path, "Range", "bytes=100-", "If-Match", whole.tag)
		if status != http.StatusPartialContent || whole.body[:100]+string(rest) != whole.body {
			t.Errorf("%s: status %d, want 206 and the rest: %.200s", path, status, rest)
		}
	}
}

// TestViewsAreReadByYears counts the queries of an export. Each query plans the view again, which takes longer than
// reading the days of one station.
func TestViewsAreReadByYears(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.exec(`INSERT INTO air.station_parameter_day (station, parameter, day, mean, count, expected, flag)
		SELECT ['s2', 's1'][1 + number % 2], 'pm25', toDate('2024-01-01') + intDiv(number, 2), number, 24, 24, 'good' FROM numbers(2 * 500)`)
	r, err := export.Resolve(t.Context(), w.conn, w.database, export.Query{Table: "daily", Format: "csv", Parameters: "pm25", Today: schema.DayOf(now)})
	if err != nil {
		t.Fatal(err)
	}
	conn := &changing{Conn: w.conn}
	e, err := export.Open(t.Context(), conn, w.database, r)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if rows, err := e.Write(t.Context(), &out, 0); err != nil || rows != 1000 {
		t.Fatalf("got %d rows, %v, want 1000", rows, err)
	}
	if got := conn.queries.Load(); got != 2 {
		t.Errorf("%d queries read two years, want 2", got)
	}
	lines := strings.Split(out.String(), "\n")[1:]
	for i, want := range map[int]string{0: "s1,S,Pune,Maharashtra,reference,pm25,µg/m³,2024-01-01", 31: "s2,S,Pune,Maharashtra,reference,pm25,µg/m³,2024-01-01", 62: "s1,S,Pune,Maharashtra,reference,pm25,µg/m³,2024-02-01"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q…", i, lines[i], want)
		}
	}
}
