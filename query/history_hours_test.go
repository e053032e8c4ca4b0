package query_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/query"
	"vayu/schema"
)

// Hours come from the cache, for every range and place, until a roll-up recomputes
// them.
func TestHoursAreCachedUntilTheNextRollUp(t *testing.T) {
	t.Parallel()
	w := india(t)
	conn := &flakyConn{Conn: w.conn}
	w.serve(t, func(c *query.Config) { c.Conn, c.Snapshots = conn, w.conn })
	w.refresh(t)
	day := schema.DayOf(now)
	get := func(place string, from, to schema.Day) string {
		t.Helper()
		status, _, body := w.get(t, fmt.Sprintf("/v1/aqi?%s&from=%s&to=%s&interval=hour", place, from, to))
		if status != http.StatusOK {
			t.Fatalf("%s: %d %s", place, status, body)
		}
		return body
	}
	for _, place := range []string{"city=Delhi", "lat=28.64&lon=77.3", "city=Pune", "city=Delhi&kinds=reference,sensor"} {
		first := get(place, day-5, day)
		read := conn.queries.Swap(0)
		if read == 0 {
			t.Errorf("%s: the first question cost no query", place)
		}
		if again := get(place, day-5, day); again != first {
			t.Errorf("%s: another answer: %s, then %s", place, first, again)
		}
		get(place, day, day)
		get(place, day-1, day)
		if n := conn.queries.Load(); n != 0 {
			t.Errorf("%s: hours that are known cost %d queries", place, n)
		}
		longer := get(place, day-8, day)
		if records(longer) != records(first) {
			t.Errorf("%s: a longer range has other hours: %s, then %s", place, first, longer)
		}
		if n := conn.queries.Swap(0); n == 0 || n > read {
			t.Errorf("%s: three more days cost %d queries, and six cost %d", place, n, read)
		}
	}

	w.cityHour(t, w.live, "Delhi", "Delhi", figure{at: hour, aqi: 77, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	w.rollup(t, w.live, hour)
	w.refresh(t)
	if body := get("city=Delhi", day-5, day); !strings.Contains(body, `"aqi":77`) {
		t.Errorf("after a roll-up: %s", body)
	}
	w.station(t, w.live, "cpcb-new", "Delhi", "Delhi", 28.64, 77.3, figure{at: hour, aqi: 11, amount: [6]float64{1, 2, 3, 4, 5, 6}})
	before := get("lat=28.64&lon=77.3", day, day)
	w.rollup(t, w.live, hour.Add(time.Hour))
	w.refresh(t)
	if body := get("lat=28.64&lon=77.3", day, day); body == before {
		t.Errorf("a new station changes nothing: %s", body)
	}
}

// records returns the records of a range reply.
func records(body string) string {
	_, after, _ := strings.Cut(body, `"records":`)
	return after
}

// A gap is filled with the nearest station's value of the 24 h before, not with an
// older one.
func TestGapsOfHoursAreFilledForADay(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	holed := func(back int) figure {
		return figure{at: hour.Add(-time.Duration(back) * time.Hour), aqi: 95, amount: [6]float64{60, 90, 20, 8, 0.8, gap}}
	}
	var hours []figure
	for back := range 40 {
		hours = append(hours, holed(back))
	}
	w.station(t, w.live, "cpcb-karve-road", "Pune", "Maharashtra", 18.4975, 73.8135, hours...)
	w.cityHour(t, w.live, "Pune", "Maharashtra", hours...)
	w.station(t, w.live, "cpcb-lonavala", "", "", 18.7557, 73.4091,
		figure{at: hour.Add(-35 * time.Hour), aqi: -1, amount: [6]float64{gap, gap, gap, gap, gap, 35}},
		figure{at: hour.Add(-5 * time.Hour), aqi: -1, amount: [6]float64{gap, gap, gap, gap, gap, 5}},
		figure{at: hour.Add(-3 * time.Hour), aqi: -1, amount: [6]float64{gap, 50, gap, gap, gap, gap}})
	w.rollup(t, w.live, hour.Add(-48*time.Hour))
	w.serve(t)
	w.refresh(t)
	day := schema.DayOf(now)
	for _, place := range []string{"city=Pune", "lat=18.5&lon=73.8"} {
		_, _, body := w.get(t, fmt.Sprintf("/v1/aqi?%s&from=%s&to=%s&interval=hour", place, day-3, day))
		got := strings.Split(body, `{"status"`)
		if len(got) != 2+len(hours) { // one before the range, and one of the range itself
			t.Fatalf("%s: %d records: %s", place, len(got), body)
		}
		for n, text := range got[2:] {
			back := len(hours) - 1 - n
			want := `"o3":null`
			switch {
			case back <= 5:
				want = `"o3":5,`
			case back > 35-24 && back <= 35:
				want = `"o3":35,`
			}
			if !strings.Contains(text, want) {
				t.Errorf("%s, %d hours before: %s, want %s", place, back, text, want)
			}
		}
	}
}

// deadConn is a connection on which every query blocks.
type deadConn struct{}

func (deadConn) Query(context.Context, string, ...any) (driver.Rows, error) {
	return nil, errors.New("every connection is in use")
}

// Client queries that exhaust their connections do not delay the refresh of the
// snapshot.
func TestSnapshotHasItsOwnConnections(t *testing.T) {
	t.Parallel()
	w := india(t)
	w.serve(t, func(c *query.Config) { c.Conn, c.Snapshots = deadConn{}, w.conn })
	w.refresh(t)
	if status, _, body := w.get(t, "/v1/aqi?city=Delhi"); status != http.StatusOK || body != delhi {
		t.Errorf("%d %s", status, body)
	}
	if status, _, body := w.get(t, "/v1/aqi?city=Delhi&date=2026-11-18"); status != http.StatusServiceUnavailable {
		t.Errorf("history: %d %s", status, body)
	}
}
