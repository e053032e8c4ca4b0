package runner_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/schema/air"
)

const day = 24 * time.Hour

func TestStoreFailureIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.archive.failures = 3
		k.source.fetch = yieldOne
		k.run(t, runner.Feed{Schedule: "@every 1h"}, 30*time.Minute)
		if diff := cmp.Diff([]time.Duration{0}, k.source.times()); diff != "" {
			t.Errorf("calls: the source was fetched again for unstored batches (-want +got):\n%s", diff)
		}
		if k.archive.rows != 1 || len(k.waits) != 1 {
			t.Errorf("%d readings stored and %d changes passed on, want 1 and 1", k.archive.rows, len(k.waits))
		}
		if got := k.metric(t, "vayu_source_store_errors_total", ""); got != 3 {
			t.Errorf("%v failures to store counted, want 3", got)
		}
	})
}

func TestLongStoreFailureLosesNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.archive.failures = 20 // the retries of 31 s are 6 attempts
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if n > 1 { // a source that yields nothing twice
				return nil
			}
			return yieldOne(ctx, n, w, yield)
		}
		k.run(t, runner.Feed{Schedule: "@every 1h"}, 30*time.Minute)
		if k.archive.rows != 1 || len(k.waits) != 1 {
			t.Errorf("%d readings stored and %d changes passed on, want 1 and 1", k.archive.rows, len(k.waits))
		}
		if got := k.metric(t, "vayu_source_runs_total", "outcome=store_failed"); got != 3 {
			t.Errorf("%v runs counted as failed by the store, want 3", got)
		}
		if got := k.metric(t, "vayu_source_breaker_state", ""); got != 0 {
			t.Errorf("the source's breaker is %v for a fault of the store, want 0, closed", got)
		}
		if len(k.journal.runs) != 4 {
			t.Fatalf("%d runs are recorded, want 4", len(k.journal.runs))
		}
		// The first run fetched the batch, and the last one stored it.
		first, last := k.journal.runs[0], k.journal.runs[3]
		if first.Outcome != "store_failed" || first.Stored != 0 || first.Rejected[ingest.MissingValue] != 1 {
			t.Errorf("the first run is %+v", first)
		}
		if last.Outcome != "done" || last.Stored != 1 || len(last.Rejected) != 0 {
			t.Errorf("the last run is %+v", last)
		}
		if k.archive.run != first.ID {
			t.Errorf("the stored batch has the run %d, want %d", k.archive.run, first.ID)
		}
	})
}

func TestPartialFetchIsStoredAndWindowRefetched(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			if err := yieldOne(ctx, n, w, yield); err != nil || n != 2 {
				return err
			}
			return errors.New("cut off")
		}
		k.run(t, runner.Feed{Schedule: "@every 1h"}, 90*time.Minute)
		want := []call{
			{0, -3 * time.Hour, 0},
			{time.Hour, -3 * time.Hour, time.Hour},
			{time.Hour + 15*time.Second, -3 * time.Hour, time.Hour + 15*time.Second}, // From has not moved
		}
		if diff := cmp.Diff(want, k.source.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if k.archive.rows != 3 || len(k.waits) != 3 {
			t.Errorf("%d readings stored and %d changes passed on, want 3 and 3", k.archive.rows, len(k.waits))
		}
	})
}

func TestFailedCoverageIsRetried(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.archive.coverageFailures = 3
		k.source.fetch = yieldOne
		k.run(t, runner.Feed{Schedule: "@every 1h"}, time.Minute)
		if diff := cmp.Diff([]time.Duration{7 * time.Second}, k.source.times()); diff != "" { // 1+2+4
			t.Errorf("calls (-want +got):\n%s", diff)
		}
		if got := k.metric(t, "vayu_source_store_errors_total", ""); got != 3 {
			t.Errorf("%v coverage failures counted, want 3", got)
		}
	})
}

func TestWindows(t *testing.T) {
	t.Parallel()
	at := bubbleStart.Add
	for _, c := range []struct {
		name        string
		history     time.Duration
		step        time.Duration
		first, last time.Time
		length      time.Duration
		want        []call
	}{
		{
			name: "a first fill starts with the live window", history: 20 * day, length: time.Minute,
			want: []call{
				{0, -36 * time.Hour, 0},
				{0, -7*day - 36*time.Hour, -36 * time.Hour},
				{0, -14*day - 36*time.Hour, -7*day - 36*time.Hour},
				{0, -20 * day, -14*day - 36*time.Hour},
			},
		},
		{
			name: "a short history is one window", history: 12 * time.Hour, length: time.Minute,
			want: []call{{0, -12 * time.Hour, 0}},
		},
		{
			name: "an interrupted fill resumes one slice earlier", history: 20 * day, length: time.Minute,
			first: at(-9 * day), last: at(-time.Hour),
			want: []call{
				{0, -37*time.Hour - 3*time.Hour, 35*time.Hour - 36*time.Hour}, // the newest slice may be incomplete
				{0, -time.Hour - 3*time.Hour, 0},
				{0, -9 * day, -2 * day},
				{0, -16 * day, -9 * day},
				{0, -20 * day, -16 * day},
			},
		},
		{
			name: "no backfill of a complete history", history: 20 * day, length: time.Minute,
			first: at(-27 * day), last: at(-30 * time.Minute),
			want: []call{{0, -36*time.Hour - 30*time.Minute - 3*time.Hour, -30 * time.Minute}, {0, -30*time.Minute - 3*time.Hour, 0}},
		},
		{
			name: "missed windows are fetched in order", history: 20 * day, length: time.Minute,
			first: at(-27 * day), last: at(-3 * day),
			want: []call{
				{0, -4*day - 12*time.Hour - 3*time.Hour, -3 * day},
				{0, -3*day - 3*time.Hour, -36 * time.Hour},
				{0, -36*time.Hour - 3*time.Hour, 0},
			},
		},
		{
			name: "the range of the first runs is the feed's", history: day, step: 8 * time.Hour, length: time.Minute,
			want: []call{{0, -8 * time.Hour, 0}, {0, -16 * time.Hour, -8 * time.Hour}, {0, -24 * time.Hour, -16 * time.Hour}},
		},
		{
			name: "the range of runs after an outage is the feed's", history: 3 * day, step: 20 * time.Hour, first: at(-10 * day), last: at(-3 * day), length: time.Minute,
			want: []call{
				{0, -75 * time.Hour, -52 * time.Hour},
				{0, -55 * time.Hour, -32 * time.Hour},
				{0, -35 * time.Hour, -12 * time.Hour},
				{0, -15 * time.Hour, 0},
			},
		},
		{
			name: "one call for a source without history", first: at(-3 * day), last: at(-3 * day), length: time.Minute,
			want: []call{{0, -3*day - 3*time.Hour, 0}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var k runnerFixture
				k.archive.first, k.archive.last = c.first, c.last
				k.source.fetch = func(context.Context, int, ingest.Window, func(*ingest.Batch) error) error { return nil }
				k.run(t, runner.Feed{Schedule: "@every 1h", History: c.history, Step: c.step}, c.length)
				if diff := cmp.Diff(c.want, k.source.calls); diff != "" {
					t.Errorf("calls (-want +got):\n%s", diff)
				}
				if got := k.metric(t, "vayu_source_backlog_seconds", ""); got != 0 {
					t.Errorf("backlog of %v s at the end, want 0", got)
				}
			})
		})
	}
}

// The first roll-up thus has only the newest readings, and ends within seconds.
func TestFirstRunAndBackfillWaitForTheRollUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(48 * time.Hour) // of the bubble, whose clock starts in 2000: readings before that year are refused
		var k runnerFixture
		k.source.fetch = func(_ context.Context, n int, w ingest.Window, yield func(*ingest.Batch) error) error {
			b := ingest.NewBuilder("test", w.To, yield)
			if err := b.Add(b.Station(station("a")), concentration(air.PM25, w.To, float64(n))); err != nil {
				return err
			}
			return b.Close()
		}
		k.run(t, runner.Feed{Schedule: "@every 1h", History: 48 * time.Hour}, time.Hour+time.Minute)
		if diff := cmp.Diff([]bool{true, true, false}, k.waits); diff != "" {
			t.Errorf("waits of the first run, a backfill and the next run (-want +got):\n%s", diff)
		}
	})
}

func TestLiveRunsPrecedeBackfill(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var k runnerFixture
		k.source.fetch = func(ctx context.Context, n int, w ingest.Window, _ func(*ingest.Batch) error) error {
			if w.To.Before(bubbleStart.Add(-time.Hour)) { // backfill runs are slow and fail at first
				time.Sleep(40 * time.Minute)
				if n == 2 {
					return errors.New("503")
				}
			}
			return nil
		}
		k.run(t, runner.Feed{Schedule: "@every 1h", History: 10 * day, Timeout: time.Hour}, 170*time.Minute)
		want := []call{
			{0, -36 * time.Hour, 0},
			{0, -7*day - 36*time.Hour, -36 * time.Hour},
			{40*time.Minute + 15*time.Second, -7*day - 36*time.Hour, -36 * time.Hour},
			{80*time.Minute + 15*time.Second, -3 * time.Hour, 80*time.Minute + 15*time.Second},
			{80*time.Minute + 15*time.Second, -10 * day, -7*day - 36*time.Hour},
			{140*time.Minute + 15*time.Second, 80*time.Minute + 15*time.Second - 3*time.Hour, 140*time.Minute + 15*time.Second},
		}
		if diff := cmp.Diff(want, k.source.calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	})
}
