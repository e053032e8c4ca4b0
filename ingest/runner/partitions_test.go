package runner_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/runner"
)

// memoryProgress is a [ingest.ProgressStore] in memory.
type memoryProgress struct {
	mu    sync.Mutex
	is    ingest.Progress
	known bool
	err   error // of both methods
}

func (s *memoryProgress) Load(_ context.Context, _ string, revision int64) (ingest.Progress, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil || s.known && s.is.Revision == revision {
		return ingest.Progress{}, false, s.err
	}
	p := s.is
	p.Partitions = maps.Clone(p.Partitions)
	return p, true, nil
}

func (s *memoryProgress) Save(_ context.Context, _ string, p ingest.Progress) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	if s.known && s.is.Revision != p.Revision {
		return ingest.ErrRevised
	}
	all := s.is.Partitions
	if all == nil || p.Restart {
		all = make(map[string]ingest.PartitionProgress)
	}
	maps.Copy(all, p.Partitions)
	p.Partitions, p.Restart = all, false
	s.is, s.known = p, true
	return nil
}

func (s *memoryProgress) set(change func(*ingest.Progress)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(&s.is)
	s.is.Revision++
}

// sensors is a network of partitions. Each call of a partition takes a minute.
type sensors struct {
	keys   []string
	newest map[string]time.Time
	fail   func(key string) error // nil for none
	mu     sync.Mutex
	calls  []string // key, begin and end of the window in hours since bubbleStart
}

func (s *sensors) Fetch(context.Context, ingest.Window, func(*ingest.Batch) error) error {
	return errors.New("the runner does not fetch partitions one by one")
}

func (s *sensors) Partitions(context.Context, ingest.Window) ([]ingest.Partition, error) {
	var all []ingest.Partition
	for _, key := range s.keys {
		all = append(all, ingest.Partition{Key: key, Newest: s.newest[key]})
	}
	return all, nil
}

func (s *sensors) FetchPartitions(ctx context.Context, parts []ingest.Partition, yield func(*ingest.Batch) error) error {
	for _, p := range parts {
		s.mu.Lock()
		s.calls = append(s.calls, fmt.Sprintf("%s %.2f %.2f", p.Key, p.Window.From.Sub(bubbleStart).Hours(), p.Window.To.Sub(bubbleStart).Hours()))
		s.mu.Unlock()
		if err := sleepContext(ctx, time.Minute); err != nil {
			return err
		}
		b := ingest.NewBuilder("test", time.Now(), yield)
		result := ingest.PartitionResult{Key: p.Key, Until: p.Window.To}
		if s.fail != nil && s.fail(p.Key) != nil {
			result.Failed = true
			b.Reject(ingest.Unreadable)
		}
		b.Partition(result)
		if err := b.Close(); err != nil {
			return err
		}
	}
	return nil
}

func sleepContext(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

// fetched returns and forgets the calls.
func (s *sensors) fetched() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.calls, ", ")
	s.calls = nil
	return text
}

// runSensors runs a network for a time, as a new process with the given progress.
func runSensors(t *testing.T, s *sensors, progress *memoryProgress, feed runner.Feed, length time.Duration) *runnerFixture {
	t.Helper()
	k := &runnerFixture{progress: progress, feedSource: s}
	k.run(t, feed, length)
	return k
}

func (s *sensors) want(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(strings.Join(want, ", "), s.fetched()); diff != "" {
		t.Errorf("calls of partitions (-want +got):\n%s", diff)
	}
}

func TestPartitionsContinueAfterRestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b", "c", "d"}}, new(memoryProgress)
		feed := runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}
		runSensors(t, s, p, feed, 150*time.Second) // two of four are complete
		s.want(t, "a -1.00 0.00", "b -1.00 0.00", "c -1.00 0.00")
		if got, want := slices.Sorted(maps.Keys(p.is.Partitions)), []string{"a", "b"}; !slices.Equal(got, want) {
			t.Errorf("the stored progress has the partitions %q, want %q", got, want)
		}
		if !p.is.Watermark.IsZero() {
			t.Errorf("the stored progress is %+v, want no watermark", p.is)
		}
		// Another instance continues the run with the two others, and then follows the schedule.
		runSensors(t, s, p, feed, 30*time.Minute)
		s.want(t, "c -1.00 0.00", "d -1.00 0.00")
		if !p.is.Watermark.Equal(bubbleStart) || !p.is.Target.IsZero() {
			t.Errorf("the stored progress is %+v", p.is)
		}
		// After a restart within the interval, nothing is due until it ends.
		runSensors(t, s, p, feed, 20*time.Minute)
		s.want(t)
		runSensors(t, s, p, feed, 30*time.Minute)
		s.want(t, "a -1.00 1.00", "b -1.00 1.00", "c -1.00 1.00", "d -1.00 1.00")
	})
}

func TestFailedPartitionContinuesAtItsWatermark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b", "c"}}, new(memoryProgress)
		feed := runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}
		s.fail = func(key string) error {
			if key == "b" && time.Since(bubbleStart) < 150*time.Minute {
				return errors.New("502")
			}
			return nil
		}
		k := runSensors(t, s, p, feed, 4*time.Hour+30*time.Minute)
		s.want(t,
			"a -1.00 0.00", "b -1.00 0.00", "c -1.00 0.00",
			"a -1.00 1.05", "c -1.00 1.05", "b -1.00 1.05", // the failing one is last
			"a 0.05 2.10", "c 0.05 2.10", "b -1.00 2.10",
			"a 1.10 3.15", "c 1.10 3.15", "b -1.00 3.15",
			"a 2.15 4.20", "b 2.15 4.20", "c 2.15 4.20",
		)
		for i, run := range k.journal.runs { // those with the failure
			if want := bubbleStart.Add(-time.Hour); !run.Window.From.Equal(want) {
				t.Errorf("run %d has the recorded window %v, want one that begins with that of the failing partition, at %s", i, run.Window, want)
			}
		}
		if got := len(k.journal.runs); got != 3 {
			t.Errorf("%d runs with a failure are recorded, want 3", got)
		}
		if got := k.metric(t, "vayu_source_partitions_failing", ""); got != 0 {
			t.Errorf("%v partitions fail at the end, want 0", got)
		}
		if got := k.metric(t, "vayu_source_partitions", "source=test"); got != 3 {
			t.Errorf("%v partitions are known, want 3", got)
		}
	})
}

func TestWatermarkInFutureDoesNotBlock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b"}}, new(memoryProgress)
		p.known = true
		p.is = ingest.Progress{Watermark: bubbleStart.Add(18 * time.Hour), Partitions: map[string]ingest.PartitionProgress{
			"a": {Watermark: bubbleStart.Add(100 * 24 * time.Hour)}, "b": {Watermark: bubbleStart.Add(-2 * time.Hour)},
		}}
		k := runSensors(t, s, p, runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}, 90*time.Minute)
		s.want(t, "b -3.00 1.00", "a 0.00 1.00")
		if got := k.metric(t, "vayu_source_watermark_ahead_total", ""); got < 1 {
			t.Errorf("%v watermarks in the future are counted", got)
		}
		if got, want := k.metric(t, "vayu_source_watermark_timestamp_seconds", ""), float64(bubbleStart.Add(time.Hour).Unix()); got != want {
			t.Errorf("the watermark is %v after a run, want %v", got, want)
		}
	})
}

func TestCommandMovesWatermark(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b"}}, new(memoryProgress)
		feed := runner.Feed{Schedule: "@every 1h", Lookback: time.Hour, Step: 24 * time.Hour}
		runSensors(t, s, p, feed, 10*time.Minute)
		s.want(t, "a -1.00 0.00", "b -1.00 0.00")
		go func() { // during the next run
			time.Sleep(50*time.Minute + 90*time.Second)
			p.set(func(p *ingest.Progress) {
				p.Partitions["b"] = ingest.PartitionProgress{Watermark: bubbleStart.Add(-40 * time.Hour)}
			})
		}()
		runSensors(t, s, p, feed, 5*time.Hour+30*time.Second) // ends within the last call
		s.want(t,
			"a -1.00 1.00", "b -1.00 1.00",
			"b -41.00 -16.00", // the interrupted run of the first hour, because the command has replaced its progress
			"b -17.00 2.05", "a 0.00 2.05",
			"a 1.05 3.08", "b 1.05 3.08",
			"a 2.08 4.12", "b 2.08 4.12",
			"a 3.12 5.15", "b 3.12 5.15",
		)
	})
}

func TestQuietPartitionsNeedNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"dormant", "late", "new"}}, new(memoryProgress)
		s.newest = map[string]time.Time{"dormant": bubbleStart.Add(-100 * time.Hour), "late": bubbleStart.Add(-5 * time.Hour)}
		p.is.Partitions = map[string]ingest.PartitionProgress{"late": {Watermark: bubbleStart.Add(-5 * time.Hour)}}
		runSensors(t, s, p, runner.Feed{Schedule: "@every 10h", Lookback: time.Hour}, time.Hour)
		s.want(t, "late -6.00 0.00", "new -1.00 0.00")
	})
}

// A partition that always fails gives up the range that the API refuses.
func TestRefusedRangeIsGivenUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b"}}, new(memoryProgress)
		s.fail = func(key string) error {
			if key == "b" {
				return errors.New("500")
			}
			return nil
		}
		p.known = true
		p.is.Partitions = map[string]ingest.PartitionProgress{"b": {Watermark: bubbleStart.Add(-30 * 24 * time.Hour)}}
		runSensors(t, s, p, runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}, 8*time.Hour+30*time.Minute)
		if got := p.is.Partitions["b"]; !got.Watermark.Equal(bubbleStart.Add(-30*24*time.Hour)) || got.Failures != 9 {
			t.Errorf("after nine failures: %+v", got)
		}
		runSensors(t, s, p, runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}, time.Hour)
		if got := p.is.Partitions["b"]; time.Since(got.Watermark) > 8*24*time.Hour || got.Failures < 10 {
			t.Errorf("after ten failures: %+v", got)
		}
	})
}

// The source continues with what it knows while the state store fails.
func TestFeedSurvivesStateStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, p := &sensors{keys: []string{"a", "b"}}, new(memoryProgress)
		go func() {
			time.Sleep(30 * time.Minute)
			p.mu.Lock()
			p.err = errors.New("disk full")
			p.mu.Unlock()
			time.Sleep(2 * time.Hour)
			p.mu.Lock()
			p.err = nil
			p.mu.Unlock()
		}()
		k := runSensors(t, s, p, runner.Feed{Schedule: "@every 1h", Lookback: time.Hour}, 3*time.Hour+10*time.Minute)
		s.want(t, "a -1.00 0.00", "b -1.00 0.00", "a -1.00 1.03", "b -1.00 1.03", "a 0.03 2.07", "b 0.03 2.07", "a 1.07 3.10", "b 1.07 3.10")
		if got := k.metric(t, "vayu_source_store_errors_total", ""); got == 0 {
			t.Error("failures of the state store are not counted")
		}
		for key, is := range p.is.Partitions {
			if !is.Watermark.Equal(p.is.Watermark) {
				t.Errorf("partition %s is stored up to %s, want %s", key, is.Watermark, p.is.Watermark)
			}
		}
	})
}
