package query_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	testfixture "vayu/internal/testing/fixture"
	"vayu/query"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/migrations/clickhouse"
)

// sourcesFixture has the runs of four sources.
func sourcesFixture(t *testing.T) (w *fixture, ops string, clock *testfixture.Clock) {
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
	clock = &testfixture.Clock{}
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
	var got air.SourcesReply
	_, body := w.getInto(t, "/v1/sources", &got)
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
	ignore := cmpopts.IgnoreFields(air.Source{}, "Coverage", "Problems", "State")
	if diff := cmp.Diff(want, w.sources(t), ignore); diff != "" {
		t.Errorf("live (-want +got):\n%s", diff)
	}
	w.checkETag(t, "/v1/sources")
	w.key = sandboxKey
	want = []air.Source{{
		Name: "simulator", LastRun: run(now.Add(-time.Minute), "timeout", 0, none),
		LastDay: air.SourceRuns{Runs: 1, Failed: 1, Rejected: none},
	}}
	if diff := cmp.Diff(want, w.sources(t), ignore); diff != "" {
		t.Errorf("sandbox (-want +got):\n%s", diff)
	}
}

// The progress is that of the world. A store that does not answer leaves it unknown.
func TestProgressOfSources(t *testing.T) {
	t.Parallel()
	w, ops, clock := sourcesFixture(t)
	want := &air.SourceProgress{
		Watermark: new(hour), Partitions: 2, Failing: 1,
		Oldest: []air.PartitionProgress{{Partition: "8118", Watermark: hour.Add(-time.Hour), Failures: 3}, {Partition: "8119", Watermark: hour}},
		Backfill: &air.SourceBackfill{
			State: "running", From: hour.Add(-time.Hour), To: hour, Fraction: 0.25, Partitions: 2, Complete: 1, Stored: 12, Requests: 4, StartedAt: hour, AdvancedAt: now,
		},
	}
	broken := false
	w.serve(t, func(c *query.Config) {
		c.Operations, c.Now = ops, clock.Now
		c.Progress = func(_ context.Context, world schema.World) (map[string]*air.SourceProgress, error) {
			if broken || world != schema.Live {
				return nil, errors.New("the store does not answer")
			}
			return map[string]*air.SourceProgress{"cpcb": want}, nil
		}
	})
	got := w.sources(t)
	if diff := cmp.Diff(want, got[0].Progress); diff != "" {
		t.Errorf("progress of %s (-want +got):\n%s", got[0].Name, diff)
	}
	if got[1].Progress != nil {
		t.Errorf("progress of %s: %+v, want none", got[1].Name, got[1].Progress)
	}
	broken = true
	clock.Advance(time.Minute)
	if got := w.sources(t); got[0].Progress != nil {
		t.Errorf("without the store, the progress is %+v", got[0].Progress)
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

// The coverage of an hour is the largest number of readings that a run had of it.
func TestCoverageOfSources(t *testing.T) {
	t.Parallel()
	w, ops, _ := sourcesFixture(t)
	end := hour.Truncate(time.Hour).Add(30 * time.Minute) // of an Indian hour
	run := 0
	hours := func(counts string) {
		run++
		w.exec(t, fmt.Sprintf("INSERT INTO %s.source_run (run, world, source, kind, started, outcome, hours) VALUES (%d, 'live', 'cpcb', 'live', fromUnixTimestamp64Micro(%[2]d), 'done', map(%[3]s))",
			ops, now.Add(-time.Duration(run)*time.Minute).UnixMicro(), counts))
	}
	hours(fmt.Sprintf("toDateTime(%d), 7, toDateTime(%d), 9", end.Unix(), end.Add(-time.Hour).Unix()))
	hours(fmt.Sprintf("toDateTime(%d), 8", end.Unix()))
	hours(fmt.Sprintf("toDateTime(%d), 5, toDateTime(%d), 6", end.Add(-8*24*time.Hour).Unix(), end.Add(-30*time.Hour).Unix()))
	got := w.sources(t)[0].Coverage
	counts := make(map[time.Duration]uint32)
	for i, n := range got.Hours {
		if n > 0 {
			counts[got.From.Add(time.Duration(i)*time.Hour).Sub(end)] = n
		}
	}
	want := map[time.Duration]uint32{0: 8, -time.Hour: 9, -30 * time.Hour: 6}
	if diff := cmp.Diff(want, counts); diff != "" || len(got.Hours) != air.CoverageHours {
		t.Errorf("%d hours, readings by the distance from %s (-want +got):\n%s", len(got.Hours), end, diff)
	}
}

// Problems have their detail for operators only. Without the state store, the list remains.
func TestProblemsOfSources(t *testing.T) {
	t.Parallel()
	w, ops, _ := sourcesFixture(t)
	problems := map[string][]air.FoundProblem{"cpcb": {{Problem: air.ProblemDrift, Since: now.Format(time.RFC3339), Detail: "secret field"}}}
	var down error
	w.serve(t, func(c *query.Config) {
		c.Operations, c.Now = ops, func() time.Time { return now }
		c.Problems = func(context.Context, schema.World) (map[string][]air.FoundProblem, error) { return problems, down }
	})
	got := w.sources(t)
	if diff := cmp.Diff([]air.OpenProblem{{Problem: air.ProblemDrift, Since: now}}, got[0].Problems); diff != "" || got[0].State != air.SourceBad {
		t.Errorf("state %s (-want +got):\n%s", got[0].State, diff)
	}
	if len(got[1].Problems) != 0 || got[1].State != air.SourceGood {
		t.Errorf("a source without problems: %+v", got[1])
	}
	problems, down = nil, errors.New("the state store is down")
	w.serve(t, func(c *query.Config) {
		c.Operations, c.Now = ops, func() time.Time { return now }
		c.Problems = func(context.Context, schema.World) (map[string][]air.FoundProblem, error) { return problems, down }
	})
	if got := w.sources(t); len(got) != 2 || got[0].State != air.SourceUnknown {
		t.Errorf("without the state store: %+v", got)
	}
}

// Operators see errors of runs and rejected records; other keys do not.
func TestSourceForOperators(t *testing.T) {
	t.Parallel()
	w, ops, _ := sourcesFixture(t)
	w.exec(t, fmt.Sprintf("INSERT INTO %s.rejected (run, world, source, started, number, reason, field, station, line, raw) VALUES "+
		"(7, 'live', 'cpcb', fromUnixTimestamp64Micro(%d), 0, 'bad_number', 'pm25', 'cpcb-1', 3, '{\"pm25\":\"6x\"}'), (7, 'sandbox', 'cpcb', fromUnixTimestamp64Micro(%[2]d), 1, 'bad_time', '', '', 1, '')",
		ops, now.Add(-time.Hour).UnixMicro()))
	for _, route := range w.service.Routes() {
		if route.Path == "/v1/sources/{source}" && route.Scope != string(schema.SourcesRead) {
			t.Errorf("the route needs the scope %q, want %q", route.Scope, schema.SourcesRead)
		}
	}
	var got air.SourceReply
	w.getInto(t, "/v1/sources/cpcb", &got)
	if len(got.Data.Runs) != 3 || got.Data.Runs[0].Outcome != "fetch_failed" || got.Data.Runs[0].Error != "secret address" {
		t.Errorf("runs %+v", got.Data.Runs)
	}
	want := []air.Rejected{{Run: 7, StartedAt: time.UnixMicro(7).UTC(), Reason: "bad_number", Field: "pm25", Station: "cpcb-1", Line: 3, Raw: `{"pm25":"6x"}`}}
	if diff := cmp.Diff(want, got.Data.Rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
	if status, _, body := w.get(t, "/v1/sources/scools"); status != http.StatusNotFound {
		t.Errorf("an unknown source: %d %s", status, body)
	}
}
