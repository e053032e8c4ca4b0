package query_test

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
)

// clock is a clock that the test sets.
type clock struct{ atomic.Int64 }

func (c *clock) set(t time.Time)    { c.Store(t.Unix()) }
func (c *clock) now() time.Time     { return time.Unix(c.Load(), 0).UTC() }
func (c *clock) on(q *query.Config) { q.Now = c.now }

func (w *fixture) reading(t testing.TB, id string, f figure) {
	t.Helper()
	w.exec(t, fmt.Sprintf("INSERT INTO %s.station_hour (station,%s) VALUES ('%s',%s)", w.live, figureColumns, id, f.columns()))
}

func (w *fixture) hourOf(t testing.TB, at time.Time, aqi, used int) {
	t.Helper()
	f := figureAt(at, aqi)
	f.used = used
	w.cityHour(t, w.live, "Delhi", "Delhi", f)
}

// Ten stations have AQI 100; one that is an hour ahead has 480.
func TestHourOfFewStationsIsNotCurrent(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	next := hour.Add(time.Hour)
	for i := range 10 {
		w.station(t, w.live, fmt.Sprint("steady-", i), "Delhi", "Delhi", 28.6, 77.2+float64(i)/100, figureAt(hour, 100))
	}
	w.hourOf(t, hour, 100, 10)
	w.rollup(t, w.live, hour.Add(-time.Hour))
	var at clock
	at.set(hour.Add(20 * time.Minute))
	w.serve(t, at.on)
	w.refresh(t)
	get := func(query string, want int) http.Header {
		t.Helper()
		_, h, body := w.get(t, "/v1/aqi?"+query)
		if got := record(t, body).AQI; got != want {
			t.Errorf("%s at %s: AQI %d, want %d: %s", query, at.now(), got, want, body)
		}
		return h
	}
	first := get("city=Delhi", 100)
	w.station(t, w.live, "ahead", "Delhi", "Delhi", 28.6, 77.4, figureAt(next, 480))
	w.hourOf(t, next, 480, 1)
	w.rollup(t, w.live, next)
	at.set(next.Add(29 * time.Minute))
	w.refresh(t)
	same := get("city=Delhi", 100)
	get("city=Delhi&kinds=reference,sensor", 100)
	if same.Get("ETag") != first.Get("ETag") || same.Get("Last-Modified") != first.Get("Last-Modified") {
		t.Errorf("an hour that waits changes the validators: %v", same)
	}
	var d air.Detail
	if _, body := w.getInto(t, "/v1/aqi?city=Delhi&view=detail", &d); len(d.Stations) != 10 || d.StationsUsed != 10 {
		t.Errorf("%d stations of the hour, %d used; want 10, all used: %s", len(d.Stations), d.StationsUsed, body)
	}
	at.set(next.Add(30 * time.Minute))
	w.refresh(t) // no new roll-up
	last := get("city=Delhi", 480)
	get("city=Delhi&kinds=reference,sensor", 480)
	if last.Get("ETag") == same.Get("ETag") || last.Get("Last-Modified") != at.now().Format(http.TimeFormat) {
		t.Errorf("the hour has become current without new validators: %v", last)
	}
	for i := range 4 { // five of the eleven: they are at least half of the ten
		w.reading(t, fmt.Sprint("steady-", i), figureAt(next, 200))
	}
	w.hourOf(t, next, 256, 5)
	w.rollup(t, w.live, next)
	at.set(next.Add(5 * time.Minute))
	w.refresh(t)
	get("city=Delhi", 256)
	if _, body := w.getInto(t, "/v1/aqi?city=Delhi&view=detail", &d); len(d.Stations) != 5 {
		t.Errorf("%d stations of the hour, want 5: %s", len(d.Stations), body)
	}
}

func TestRunPromotesAnHourAfterItsWait(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	next := hour.Add(time.Hour)
	w.station(t, w.live, "one", "Delhi", "Delhi", 28.6, 77.2, figureAt(next, 480))
	w.hourOf(t, hour, 100, 10)
	w.hourOf(t, next, 480, 1)
	w.rollup(t, w.live, hour)
	var at clock
	at.set(next)
	conn := &observedConn{Conn: w.conn, of: w.live + ".city_hour", seen: make(chan struct{}, 1000)}
	run(t, w, at.on, func(c *query.Config) { c.Conn, c.Poll = conn, 5*time.Millisecond })
	for len(conn.seen) > 0 {
		<-conn.seen
	}
	at.set(next.Add(30 * time.Minute))
	<-conn.seen // the query of the figures has begun
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	for ctx.Err() == nil {
		if _, _, body := w.get(t, "/v1/aqi?city=Delhi"); record(t, body).AQI == 480 {
			return
		}
	}
	t.Error("the hour has waited for more than 30 minutes")
}

// Hours that were removed from the tables leave the snapshot.
func TestRemovedHourLeavesTheSnapshot(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.station(t, w.live, "one", "Delhi", "Delhi", 28.6, 77.2, figureAt(hour.Add(-2*time.Hour), 90), figureAt(hour.Add(-time.Hour), 100), figureAt(hour, 480))
	w.station(t, w.live, "other", "Pune", "Maharashtra", 18.5, 73.8, figureAt(hour, 60))
	for back, aqi := range map[int]int{0: 480, 1: 100, 2: 90} {
		w.hourOf(t, hour.Add(-time.Duration(back)*time.Hour), aqi, 1)
	}
	w.cityHour(t, w.live, "Pune", "Maharashtra", figureAt(hour, 60))
	w.rollup(t, w.live, hour.Add(-2*time.Hour))
	w.serve(t)
	w.refresh(t)
	for _, want := range []int{480, 100, 90, -1} {
		_, _, body := w.get(t, "/v1/aqi?city=Delhi")
		_, _, near := w.get(t, "/v1/aqi?lat=28.6&lon=77.2")
		if want < 0 {
			for _, text := range []string{body, near} {
				var p schema.ProblemBody
				decode(t, text, &p)
				if got := p.Error.Code.Status(); got != http.StatusNotFound {
					t.Errorf("status %d after the last hour, want 404: %s", got, text)
				}
			}
			break
		}
		if record(t, body).AQI != want || record(t, near).AQI != want {
			t.Errorf("want %d: %s %s", want, body, near)
		}
		at := record(t, body).Updated
		w.exec(t, fmt.Sprintf("ALTER TABLE %s.station_hour DELETE WHERE station = 'one' AND at = toDateTime(%d) SETTINGS mutations_sync = 2", w.live, at.Unix()))
		w.exec(t, fmt.Sprintf("ALTER TABLE %s.city_hour DELETE WHERE city = 'Delhi' AND at = toDateTime(%d) SETTINGS mutations_sync = 2", w.live, at.Unix()))
		w.rollup(t, w.live, at)
		w.refresh(t)
	}
	if _, _, body := w.get(t, "/v1/aqi?city=Pune"); record(t, body).AQI != 60 {
		t.Errorf("another city: %s", body)
	}
}
