package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	clockfixture "vayu/internal/testing/fixture"
	"vayu/query"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

// sourcesFixture has the runs of four sources.
func sourcesFixture(t *testing.T) (w *fixture, ops string, clock *clockfixture.Clock) {
	t.Helper()
	w = newFixture(t)
	db := columnstoretest.New(t)
	ops = columnstoretest.Database(t, db)
	if err := migration.Apply(t.Context(), db, migration.Params{Database: ops, Files: clickhouse.OpsFiles()}); err != nil {
		t.Fatal(err)
	}
	w.addRun(t, ops, "live", "cpcb", now.Add(-25*time.Hour), "done", 100, hour.Add(-24*time.Hour), "'bad_number',9")
	w.addRun(t, ops, "live", "cpcb", now.Add(-2*time.Hour), "done", 40, hour, "'bad_number',2")
	w.addRun(t, ops, "live", "cpcb", now.Add(-time.Hour), "fetch_failed", 0, time.Unix(0, 0), "")
	w.addRun(t, ops, "live", "schools", now.Add(-time.Hour), "done", 7, hour.Add(-time.Hour), "'missing_value',1,'bad_time',3")
	w.addRun(t, ops, "live", "ended", now.Add(-31*24*time.Hour), "done", 7, hour, "")
	w.addRun(t, ops, "sandbox", "simulator", now.Add(-time.Minute), "timeout", 0, time.Unix(0, 0), "")
	clock = &clockfixture.Clock{}
	clock.Set(now)
	w.serve(t, func(c *query.Config) { c.Operations, c.Now = ops, clock.Now })
	return w, ops, clock
}

// addRun adds a run that received 2 replies of 10 bytes each.
func (w *fixture) addRun(t *testing.T, ops, world, source string, at time.Time, outcome string, stored int, newest time.Time, rejected string) {
	t.Helper()
	for range 2 { // a run that is recorded again is one row
		w.exec(t, fmt.Sprintf(`INSERT INTO %s.source_run (run, world, source, kind, started, seconds, outcome, error, requests, bytes, stored, newest, rejected)
			VALUES (%d, '%s', '%s', 'live', fromUnixTimestamp64Micro(%[2]d), 1.5, '%[5]s', 'secret address', 2, 20, %d, toDateTime(%d), map(%s))`,
			ops, at.UnixMicro(), world, source, outcome, stored, newest.Unix(), rejected))
	}
}

func (w *fixture) sources(t *testing.T) []air.Source {
	t.Helper()
	status, _, body := w.get(t, "/v1/sources")
	var got air.SourcesReply
	if err := json.Unmarshal([]byte(body), &got); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s", status, body)
	}
	if strings.Contains(body, "secret") {
		t.Errorf("the reply contains the error of a run: %s", body)
	}
	return got.Data
}

func TestSourcesOfAWorld(t *testing.T) {
	t.Parallel()
	w, _, _ := sourcesFixture(t)
	at := func(x time.Time) *time.Time { return &x }
	none := map[string]uint64{}
	run := func(start time.Time, outcome string, stored uint64, rejected map[string]uint64) air.SourceRun {
		return air.SourceRun{
			ID: uint64(start.UnixMicro()), Kind: "live", StartedAt: start, Seconds: 1.5, Outcome: outcome,
			Requests: 2, Bytes: 20, Stored: stored, Rejected: rejected,
		}
	}
	schools := map[string]uint64{"missing_value": 1, "bad_time": 3}
	want := []air.Source{{
		Name: "cpcb", NewestReading: at(hour), LastSuccess: at(now.Add(-2 * time.Hour)),
		LastRun: run(now.Add(-time.Hour), "fetch_failed", 0, none),
		LastDay: air.SourceRuns{Runs: 2, Failed: 1, Stored: 40, Rejected: map[string]uint64{"bad_number": 2}},
	}, {
		Name: "schools", NewestReading: at(hour.Add(-time.Hour)), LastSuccess: at(now.Add(-time.Hour)),
		LastRun: run(now.Add(-time.Hour), "done", 7, schools),
		LastDay: air.SourceRuns{Runs: 1, Stored: 7, Rejected: schools},
	}}
	if diff := cmp.Diff(want, w.sources(t)); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	w.key = sandboxKey
	want = []air.Source{{
		Name: "simulator", LastRun: run(now.Add(-time.Minute), "timeout", 0, none),
		LastDay: air.SourceRuns{Runs: 1, Failed: 1, Rejected: none},
	}}
	if diff := cmp.Diff(want, w.sources(t)); diff != "" {
		t.Errorf("sandbox (-want +got):\n%s", diff)
	}
}

// A list answers the calls of ten seconds, so that no account can occupy ClickHouse with it.
func TestSourcesAreReadEveryTenSeconds(t *testing.T) {
	t.Parallel()
	w, ops, clock := sourcesFixture(t)
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{0, 2}, {9 * time.Second, 2}, {time.Second, 3}} {
		clock.Advance(c.after)
		if got := w.sources(t); len(got) != c.want {
			t.Errorf("after %s there are %d sources, want %d", clock.Now().Sub(now), len(got), c.want)
		}
		w.addRun(t, ops, "live", "added", now, "done", 1, hour, "")
	}
}

func TestInvalidSourceQueries(t *testing.T) {
	t.Parallel()
	w := newFixture(t)
	w.serve(t, func(c *query.Config) { c.Operations = w.live })
	if status, _, body := w.get(t, "/v1/sources?source=cpcb"); status != http.StatusBadRequest || !strings.Contains(body, `"field":"source"`) {
		t.Errorf("a parameter: %d %s", status, body)
	}
	if status, _, _ := w.do(t, http.MethodPost, "/v1/sources", "Authorization", "Bearer "+w.key); status != http.StatusMethodNotAllowed {
		t.Errorf("POST: %d", status)
	}
}
