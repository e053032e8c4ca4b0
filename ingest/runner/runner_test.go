package runner_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/schema/air"
)

// memoryArchive is an archive in memory that can fail.
type memoryArchive struct {
	mu               sync.Mutex
	rows             int
	loads            int
	run              uint64 // of the last stored batch
	failures         int    // remaining failures of Load
	first            time.Time
	last             time.Time
	coverageFailures int // remaining failures of Coverage
}

var errFull = errors.New("no space left on device")

func (s *memoryArchive) Load(_ context.Context, b *ingest.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loads++
	if s.failures > 0 {
		s.failures--
		return errFull
	}
	s.rows += b.Rows()
	s.run = b.Run
	return nil
}

func (s *memoryArchive) Coverage(context.Context, string, time.Time) (time.Time, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.coverageFailures > 0 {
		s.coverageFailures--
		return time.Time{}, time.Time{}, errFull
	}
	return s.first, s.last, nil
}

// sourceFunc is a source for tests; n counts its calls from 1.
type sourceFunc struct {
	mu    sync.Mutex
	calls []call
	fetch func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error
}

// call is a fetch, relative to the start of the test.
type call struct{ At, From, To time.Duration }

func (s *sourceFunc) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	s.mu.Lock()
	s.calls = append(s.calls, call{time.Since(bubbleStart), w.From.Sub(bubbleStart), w.To.Sub(bubbleStart)})
	n := len(s.calls)
	s.mu.Unlock()
	return s.fetch(ctx, n, w, yield)
}

func (s *sourceFunc) times() []time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []time.Duration
	for _, c := range s.calls {
		out = append(out, c.At)
	}
	return out
}

// bubbleStart is the start time of every synctest bubble.
var bubbleStart = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// now is the current time of the tests outside a bubble.
var now = time.Date(2026, 1, 20, 6, 0, 0, 0, time.UTC)

func station(id string) air.Station {
	return air.Station{ID: id, City: "Pune", State: "Maharashtra", Latitude: 18.52, Longitude: 73.86}
}

func concentration(p air.Pollutant, at time.Time, value float64) air.Reading {
	return air.Reading{Parameter: p.Parameter(), At: at, Value: value, Kind: air.Concentration, Averaging: air.Hourly}
}

// yieldOne yields a batch with one reading at the end of the window.
func yieldOne(_ context.Context, _ int, w ingest.Window, yield func(*ingest.Batch) error) error {
	b := ingest.NewBuilder("test", w.To, yield)
	if err := b.Add(b.Station(station("a")), concentration(air.PM25, later(w.To, bubbleStart), 50)); err != nil {
		return err
	}
	b.Reject(ingest.MissingValue)
	return b.Close()
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// memoryJournal is a journal in memory. It fails while err is set.
type memoryJournal struct {
	mu   sync.Mutex
	runs []ingest.Run
	err  error
}

func (j *memoryJournal) Record(_ context.Context, runs []ingest.Run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.runs = append(j.runs, runs...)
	}
	return j.err
}

func (j *memoryJournal) setError(err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.err = err
}

// runnerFixture is a runner in a synctest bubble.
type runnerFixture struct {
	archive  memoryArchive
	journal  memoryJournal
	source   sourceFunc
	progress ingest.ProgressStore
	// feedSource replaces source unless it is nil.
	feedSource ingest.Source
	registry   *prometheus.Registry
	runner     *runner.Runner
	log        strings.Builder
	onChange   func() // called for each change; nil for none
	waits      []bool // for each window with changes, whether the feed waited for the roll-up
	quit       chan struct{}
}

// run runs the feed for a duration.
func (k *runnerFixture) run(t *testing.T, feed runner.Feed, length time.Duration) {
	t.Helper()
	k.registry = prometheus.NewRegistry()
	feed.Name, feed.Source = "test", &k.source
	if k.feedSource != nil {
		feed.Source = k.feedSource
	}
	onChange := func(_ context.Context, wait bool) {
		k.waits = append(k.waits, wait)
		if k.onChange != nil {
			k.onChange()
		}
	}
	log := slog.New(slog.NewTextHandler(&k.log, nil))
	r, err := runner.New(runner.Config{
		Archive: &k.archive, Journal: &k.journal, Progress: k.progress, OnChange: onChange, Quit: k.quit,
		Metrics: runner.NewMetrics(k.registry), Log: log,
	}, feed)
	if err != nil {
		t.Fatal(err)
	}
	k.runner = r
	ctx, cancel := context.WithTimeout(t.Context(), length)
	defer cancel()
	if err := r.Run(ctx); err != nil {
		t.Errorf("Run: %v", err)
	}
}

// metric sums the metrics whose labels contain text, e.g. `outcome="done"`.
func (k *runnerFixture) metric(t *testing.T, name, labels string) float64 {
	t.Helper()
	families, err := k.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, m := range f.GetMetric() {
			text := ""
			for _, l := range m.GetLabel() {
				text += l.GetName() + "=" + l.GetValue() + " "
			}
			if strings.Contains(text, labels) {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	return sum
}

func TestFeedRunsAtOnceAndThenOnSchedule(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = yieldOne
		k.run(t, runner.Feed{Schedule: "5 * * * *"}, 150*time.Minute)
		// hours of an Indian clock begin at hh:30 UTC
		want := []call{
			{0, -3 * time.Hour, 0},
			{35 * time.Minute, -3 * time.Hour, 35 * time.Minute},
			{95 * time.Minute, 35*time.Minute - 3*time.Hour, 95 * time.Minute},
		}
		if diff := cmp.Diff(want, k.source.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if k.archive.rows != 3 || len(k.waits) != 3 {
			t.Errorf("%d readings stored and %d changes passed on, want 3 and 3", k.archive.rows, len(k.waits))
		}
		for labels, want := range map[string]float64{
			"outcome=stored": 3, "outcome=rejected reason=missing_value": 3,
		} {
			if got := k.metric(t, "vayu_readings_total", labels); got != want {
				t.Errorf("vayu_readings_total{%s} = %v, want %v", labels, got, want)
			}
		}
		if got := k.metric(t, "vayu_source_runs_total", "outcome=done"); got != 3 {
			t.Errorf("%v good runs counted, want 3", got)
		}
		if got := k.metric(t, "vayu_source_run_seconds", ""); got != 3 {
			t.Errorf("%v runs timed, want 3", got)
		}
		last := float64(bubbleStart.Add(95 * time.Minute).Unix())
		if got := k.metric(t, "vayu_source_last_success_timestamp_seconds", ""); got != last {
			t.Errorf("last success at %v, want %v", got, last)
		}
		if got := k.metric(t, "vayu_source_newest_reading_timestamp_seconds", ""); got != last {
			t.Errorf("newest reading at %v, want %v", got, last)
		}
	})
}

func TestRunsAreRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			recorder := ingest.RecorderOf(ctx)
			if n == 1 {
				recorder.Record(ingest.Exchange{}, nil, nil)
				return errors.New("503")
			}
			recorder.Record(ingest.Exchange{}, []byte("ab"), nil)
			recorder.Record(ingest.Exchange{}, []byte("c"), nil)
			return yieldOne(ctx, n, w, yield)
		}
		k.journal.err = errors.New("ClickHouse is down")
		k.onChange = func() { k.journal.setError(nil) }
		k.run(t, runner.Feed{Schedule: "@every 1h"}, time.Minute)
		started := func(after time.Duration) uint64 { return uint64(bubbleStart.Add(after).UnixMicro()) }
		want := []ingest.Run{
			{ID: started(0), Source: "test", Kind: ingest.LiveRun, Outcome: "fetch_failed", Error: "503", Received: ingest.Received{Requests: 1}},
			{
				ID: started(15 * time.Second), Source: "test", Kind: ingest.LiveRun, Outcome: "done", Stored: 1, Newest: bubbleStart.Add(15 * time.Second),
				Received: ingest.Received{Requests: 2, Bytes: 3, SHA256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
				Hours:    map[int64]int{bubbleStart.Add(30 * time.Minute).Unix(): 1},
				Rejected: ingest.Rejections{ingest.MissingValue: 1},
			},
		}
		if diff := cmp.Diff(want, k.journal.runs, cmpopts.IgnoreFields(ingest.Run{}, "Window"), cmpopts.IgnoreUnexported(ingest.Run{})); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
}

func TestBackfillIsRecordedWithItsWindow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			time.Sleep(time.Second)
			return yieldOne(ctx, n, w, yield)
		}
		k.run(t, runner.Feed{Schedule: "@every 1h", History: 48 * time.Hour}, time.Minute)
		if len(k.journal.runs) != 2 {
			t.Fatalf("%d runs are recorded, want a live run and a backfill", len(k.journal.runs))
		}
		got := k.journal.runs[1]
		want := ingest.Window{From: bubbleStart.Add(-48 * time.Hour), To: bubbleStart.Add(-36 * time.Hour)}
		if diff := cmp.Diff(want, got.Window); diff != "" {
			t.Errorf("window (-want +got):\n%s", diff)
		}
		if got.Kind != ingest.BackfillRun || got.Elapsed != time.Second {
			t.Errorf("kind %v and %s, want a backfill of a second", got.Kind, got.Elapsed)
		}
	})
}

// A folder is polled every half minute, and a poll that finds nothing is no run.
func TestRunsWithoutAnythingAreNotRecorded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(context.Context, int, ingest.Window, func(*ingest.Batch) error) error { return nil }
		k.run(t, runner.Feed{Schedule: "@every 30s"}, 10*time.Minute)
		if len(k.journal.runs) > 0 {
			t.Errorf("%d runs are recorded", len(k.journal.runs))
		}
	})
}

// A feed that must end completes its run, and starts no other.
func TestQuitEndsAfterTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := runnerFixture{quit: make(chan struct{})}
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			time.Sleep(5 * time.Minute)
			return yieldOne(ctx, n, w, yield)
		}
		go func() {
			time.Sleep(time.Hour + 6*time.Minute) // in the second run
			close(k.quit)
		}()
		k.run(t, runner.Feed{Schedule: "@every 1h"}, 10*time.Hour)
		if got := time.Since(bubbleStart); got != time.Hour+10*time.Minute {
			t.Errorf("the feed ended after %s, want with its second run", got)
		}
		if k.archive.rows != 2 {
			t.Errorf("%d readings stored, want 2", k.archive.rows)
		}
	})
}

func TestSlowFeedNeverOverlapsItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			time.Sleep(25 * time.Minute)
			return yieldOne(ctx, n, w, yield)
		}
		k.run(t, runner.Feed{Schedule: "@every 10m", Timeout: time.Hour}, 80*time.Minute)
		if diff := cmp.Diff([]time.Duration{0, 35 * time.Minute, 70 * time.Minute}, k.source.times()); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}

func TestJitterDelaysScheduledRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = yieldOne
		k.run(t, runner.Feed{Jitter: 10 * time.Minute, Schedule: "@every 1h"}, 100*time.Hour)
		times, spread := k.source.times(), map[time.Duration]bool{}
		for i := 1; i < len(times); i++ {
			wait := times[i] - times[i-1]
			spread[wait] = true
			if wait <= time.Hour-time.Second || wait >= 70*time.Minute { // a schedule starts at a whole second
				t.Errorf("%s between two runs, want 60 to 70 minutes", wait)
			}
		}
		if len(spread) < 10 {
			t.Errorf("only %d different delays", len(spread))
		}
	})
}

// failing returns a fetch whose first calls fail.
func failing(times int, fail func(ctx context.Context) error) func(context.Context, int, ingest.Window, func(*ingest.Batch) error) error {
	return func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
		if n <= times {
			return fail(ctx)
		}
		return yieldOne(ctx, n, w, yield)
	}
}

func TestFailureIsCountedAndRetriedWithinTheHour(t *testing.T) {
	t.Parallel()
	hang := func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) }
	for _, c := range []struct {
		outcome string
		metric  string // beside the outcome
		fail    func(context.Context) error
		took    time.Duration
	}{
		{"fetch_failed", "", func(context.Context) error { return errors.New("503") }, 0},
		{"panicked", "vayu_source_panics_total", func(context.Context) error { panic("index out of range") }, 0},
		{"timed_out", "", hang, time.Minute},
		{"refused", "vayu_source_refused_total", func(context.Context) error { return &ingest.BatchError{Reason: ingest.GateFailed} }, 0},
	} {
		t.Run(c.outcome, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var k runnerFixture
				k.source.fetch = failing(2, c.fail)
				k.run(t, runner.Feed{Schedule: "@every 1h", Timeout: time.Minute}, 50*time.Minute)
				want := []time.Duration{0, c.took + 15*time.Second, 2*c.took + 45*time.Second}
				if diff := cmp.Diff(want, k.source.times()); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got := k.metric(t, "vayu_source_runs_total", "outcome="+c.outcome); got != 2 {
					t.Errorf("%v runs %s counted, want 2", got, c.outcome)
				}
				if c.metric != "" && k.metric(t, c.metric, "") != 2 {
					t.Errorf("%s = %v, want 2", c.metric, k.metric(t, c.metric, ""))
				}
				if got := k.metric(t, "vayu_source_runs_total", "outcome=done"); got != 1 {
					t.Errorf("%v good runs counted, want 1", got)
				}
				if k.archive.rows != 1 {
					t.Errorf("%d readings stored, want 1", k.archive.rows)
				}
			})
		})
	}
}

func TestBreakerLimitsRequestsToFailingServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = failing(1000, func(context.Context) error { return errors.New("503") })
		k.run(t, runner.Feed{Schedule: "@every 1h"}, 10*time.Hour)
		if got := len(k.source.times()); got < 5+9*2 || got > 5+10*4 {
			t.Errorf("%d requests in ten hours, want 5 and then two to four an hour", got)
		}
		if got := k.metric(t, "vayu_source_runs_total", "outcome=breaker_open"); got == 0 {
			t.Error("runs that were not tried are not counted")
		}
		if got := k.metric(t, "vayu_source_breaker_state", ""); got != 2 {
			t.Errorf("breaker state %v, want 2, open", got)
		}
		if got := k.metric(t, "vayu_source_outcome", ""); got != 1 {
			t.Errorf("%v outcomes of the last run, want 1", got)
		}
		k.runner.ResetMetrics()
		for _, gauge := range [...]string{"vayu_source_breaker_state", "vayu_source_outcome", "vayu_source_backlog_seconds"} {
			if got := k.metric(t, gauge, ""); got != 0 {
				t.Errorf("%s is %v of a source that runs no more", gauge, got)
			}
		}
	})
}

func TestFailingBackfillKeepsLiveRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if w.To.Before(bubbleStart.Add(-time.Hour)) {
				return errors.New("404")
			}
			return yieldOne(ctx, n, w, yield)
		}
		k.run(t, runner.Feed{Schedule: "@every 1h", History: 30 * 24 * time.Hour}, 5*time.Hour+time.Minute)
		if k.archive.rows != 6 {
			t.Errorf("%d readings of the present, want 6", k.archive.rows)
		}
		if got := k.metric(t, "vayu_source_breaker_state", ""); got != 0 {
			t.Errorf("breaker state %v, want 0, closed", got)
		}
		if got := k.metric(t, "vayu_source_backlog_seconds", ""); got != (30*24-36)*3600 {
			t.Errorf("backlog of %v s, want what is missing", got)
		}
		if n := len(k.source.times()); n > 6+5*12 {
			t.Errorf("%d requests in five hours", n)
		}
	})
}

func TestInvalidFeedsAreRejected(t *testing.T) {
	t.Parallel()
	src := new(sourceFunc)
	for _, feeds := range [][]runner.Feed{
		{{Name: "a", Source: src, Schedule: "61 * * * *"}},
		{{Source: src}},
		{{Name: "a"}},
		{{Name: "a", Source: src}, {Name: "a", Source: src}},
	} {
		if _, err := runner.New(runner.Config{Metrics: runner.NewMetrics(prometheus.NewRegistry())}, feeds...); err == nil {
			t.Errorf("NewRunner accepted %+v", feeds)
		}
	}
}
