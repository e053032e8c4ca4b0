package backfill_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/ingest"
	"vayu/ingest/backfill"
	"vayu/ingest/runner"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema/air"
)

var (
	end   = time.Date(2026, 6, 9, 0, 0, 0, 0, time.UTC)
	begin = end.Add(-10 * 24 * time.Hour)
)

// network is a network of sensors. It notes the windows that were stored.
type network struct {
	mu      sync.Mutex
	keys    []string
	calls   int
	windows map[string][]ingest.Window // of each partition, as stored
	most    int                        // largest number of concurrent fetches
	running int
	fail    func(key string, call int) error // of one partition
	fatal   func(call int) error             // of all partitions
}

func newNetwork(n int) *network {
	s := &network{windows: make(map[string][]ingest.Window)}
	for i := range n {
		s.keys = append(s.keys, fmt.Sprintf("s%02d", i))
	}
	return s
}

// source is a source of the network.
type source struct{ *network }

func (s source) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	return s.FetchPartitions(ctx, []ingest.Partition{{Window: w}}, yield)
}

func (s source) Partitions(context.Context, ingest.Window) (all []ingest.Partition, err error) {
	for _, key := range s.keys {
		all = append(all, ingest.Partition{Key: key, Fields: map[string]string{"sensor": key}})
	}
	return append(all, ingest.Partition{Key: "dormant", Newest: begin.Add(-time.Hour)}), nil
}

func (s source) enter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running++
	s.most = max(s.most, s.running)
}

func (s source) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

func (s source) FetchPartitions(ctx context.Context, parts []ingest.Partition, yield func(*ingest.Batch) error) error {
	s.enter()
	defer s.leave()
	for _, p := range parts {
		if p.Fields["sensor"] != p.Key {
			return fmt.Errorf("partition %q has the fields %v", p.Key, p.Fields)
		}
		s.mu.Lock()
		s.calls++
		call := s.calls
		s.mu.Unlock()
		if s.fatal != nil {
			if err := s.fatal(call); err != nil {
				return err
			}
		}
		b := ingest.NewBuilder("sensors", end, yield)
		result := ingest.PartitionResult{Key: p.Key, Until: p.Window.To}
		if s.fail != nil && s.fail(p.Key, call) != nil {
			result.Failed = true
			b.Reject(ingest.Unreadable)
		} else if err := b.Add(b.Station(air.Station{ID: "sensors-" + p.Key}), air.Reading{Parameter: air.PM25.Parameter(), At: p.Window.To, Value: 7, Averaging: 60}); err != nil {
			return err
		}
		b.Partition(result)
		if err := b.Close(); err != nil {
			return err
		}
		if !result.Failed {
			s.mu.Lock()
			s.windows[p.Key] = append(s.windows[p.Key], p.Window)
			s.mu.Unlock()
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// whole is a source without partitions.
type whole struct{ ingest.Source }

// archive stores nothing, and counts.
type archive struct {
	mu     sync.Mutex
	rows   int
	loads  int
	loaded func(loads int) // nil for none
}

func (a *archive) Load(_ context.Context, b *ingest.Batch) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rows += b.Rows()
	if a.loads++; a.loaded != nil {
		a.loaded(a.loads)
	}
	return nil
}

func (*archive) Coverage(context.Context, string, time.Time) (first, last time.Time, err error) {
	return
}

// journal keeps runs.
type journal struct {
	mu   sync.Mutex
	runs []ingest.Run
}

func (j *journal) Record(_ context.Context, runs []ingest.Run) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs = append(j.runs, runs...)
	return nil
}

// sensorFixture works on backfills of a network.
type sensorFixture struct {
	*backfill.Store

	network *network
	journal journal
	archive archive
	feed    runner.Feed
	metrics *prometheus.Registry // of the last process
}

func newFixture(db *sqlstore.DB, sensors int) *sensorFixture {
	f := &sensorFixture{Store: backfill.New(db, "live", time.Now), network: newNetwork(sensors)}
	f.feed = runner.Feed{Name: "sensors", Source: source{f.network}, Step: 3 * 24 * time.Hour, AnyWindow: true}
	return f
}

func (f *sensorFixture) wanted() backfill.Job {
	return backfill.Job{Source: "sensors", Window: ingest.Window{From: begin, To: end}, Parallel: 4}
}

func (f *sensorFixture) start(t *testing.T, wanted backfill.Job) backfill.Job {
	t.Helper()
	job, err := f.Start(t.Context(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

// work works on a backfill until it ends, as a new process.
func (f *sensorFixture) work(ctx context.Context, t *testing.T, job backfill.Job, quit <-chan struct{}) backfill.Job {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	f.metrics = prometheus.NewRegistry()
	r, err := runner.New(runner.Config{
		Archive: &f.archive, Journal: &f.journal, OnChange: func(context.Context, bool) {}, Metrics: runner.NewMetrics(prometheus.NewRegistry()), Log: log,
	})
	if err != nil {
		t.Fatal(err)
	}
	w := backfill.Worker{
		Store: f.Store, Runner: r, Changed: func() {}, Metrics: backfill.NewMetrics(f.metrics), Log: log, Feed: func(string) (runner.Feed, error) { return f.feed, nil },
	}
	if err := w.Work(ctx, job.ID, quit); err != nil {
		t.Fatal(err)
	}
	is, err := f.Find(t.Context(), job.Source)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// wantWindows checks that the windows of each partition cover the range once.
func (f *sensorFixture) wantWindows(t *testing.T, keys ...string) {
	t.Helper()
	want := []string{"2026-06-06 2026-06-09", "2026-06-03 2026-06-06", "2026-05-31 2026-06-03", "2026-05-30 2026-05-31"}
	for _, key := range keys {
		var got []string
		for _, w := range f.network.windows[key] {
			got = append(got, w.From.Format(time.DateOnly)+" "+w.To.Format(time.DateOnly))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("windows of partition %q (-want +got):\n%s", key, diff)
		}
	}
}

func TestBackfillFetchesTheRangeOnce(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		f := newFixture(db, 200)
		is := f.work(t.Context(), t, f.start(t, f.wanted()), nil)
		f.wantWindows(t, f.network.keys...)
		if f.network.most < 2 || f.network.most > 4 {
			t.Errorf("%d partitions were fetched at a time, want 2 to 4", f.network.most)
		}
		want := backfill.Progress{Listed: true, Parts: 200, Complete: 200, Fraction: 1, Stored: 800}
		if diff := cmp.Diff(want, is.Progress); diff != "" || is.State != backfill.Done {
			t.Errorf("state %s, progress (-want +got):\n%s", is.State, diff)
		}
		ids := make(map[uint64]bool)
		for _, run := range f.journal.runs {
			ids[run.ID] = true
			if run.Kind != ingest.BackfillRun || run.Outcome != "done" {
				t.Errorf("run %+v", run)
			}
		}
		if len(ids) != len(f.journal.runs) || len(ids) == 0 {
			t.Errorf("%d runs have %d ids", len(f.journal.runs), len(ids))
		}
		if got := fixture.MetricValue(t, f.metrics, "vayu_source_backfills_total", "source", "sensors", "state", "done"); got != 1 {
			t.Errorf("%v backfills are counted, want 1", got)
		}
	})
}

func TestInterruptedBackfillContinues(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		f := newFixture(db, 20)
		job := f.start(t, f.wanted())
		for n := 1; job.State == backfill.Running && n < 100; n++ {
			ctx, cancel := context.WithCancel(t.Context())
			limit := f.archive.loads + 7 // at least three of them advance partitions, because four workers store at a time
			f.archive.loaded = func(loads int) {
				if loads == limit {
					cancel()
				}
			}
			job = f.work(ctx, t, job, nil)
			cancel()
			if again := f.start(t, f.wanted()); again.ID != job.ID && job.State == backfill.Running {
				t.Fatalf("the same command starts backfill %s beside %s", again.ID, job.ID)
			}
		}
		if job.State != backfill.Done || job.Complete != 20 {
			t.Errorf("the backfill is %+v", job)
		}
		for _, key := range f.network.keys {
			windows := f.network.windows[key]
			slices.SortFunc(windows, func(a, b ingest.Window) int { return b.To.Compare(a.To) })
			f.network.windows[key] = slices.CompactFunc(windows, func(a, b ingest.Window) bool { return a == b })
		}
		f.wantWindows(t, f.network.keys...) // windows that were stored before an interruption may be repeated
	})
}

func TestFailingPartitionIsLeftOut(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		f := newFixture(db, 3)
		broken := true
		f.network.fail = func(key string, _ int) error {
			if broken && key == "s01" {
				return errors.New("500")
			}
			return nil
		}
		is := f.work(t.Context(), t, f.start(t, f.wanted()), nil)
		f.wantWindows(t, "s00", "s02")
		if is.State != backfill.Failed || is.Failing != 1 || is.Complete != 2 || !strings.Contains(is.Error, "1 of 3 partitions") {
			t.Errorf("the backfill is %+v", is)
		}
		broken = false
		before := f.network.calls
		again := f.start(t, f.wanted())
		is = f.work(t.Context(), t, again, nil)
		f.wantWindows(t, f.network.keys...)
		if again.ID != is.ID || is.State != backfill.Done || f.network.calls-before != 4 {
			t.Errorf("%d calls, and the backfill is %+v", f.network.calls-before, is)
		}
	})
}

func TestBackfillOfSomePartitions(t *testing.T) {
	t.Parallel()
	db := sqlstoretest.SQLite(t)
	f := newFixture(db, 5)
	wanted := f.wanted()
	wanted.Partitions = []string{"s03", "s01", "s03"}
	is := f.work(t.Context(), t, f.start(t, wanted), nil)
	f.wantWindows(t, "s01", "s03")
	if len(f.network.windows) != 2 || is.State != backfill.Done {
		t.Errorf("%d partitions are fetched, state %s", len(f.network.windows), is.State)
	}
	wanted.Partitions = []string{"s01", "s77"}
	is = f.work(t.Context(), t, f.start(t, wanted), nil)
	if is.State != backfill.Failed || !strings.Contains(is.Error, "no partition s77") {
		t.Errorf("the backfill of an unknown partition is %+v", is)
	}
}

// A source without partitions is fetched window by window.
func TestBackfillOfWholeSource(t *testing.T) {
	t.Parallel()
	f := newFixture(sqlstoretest.SQLite(t), 0)
	f.feed.Source = whole{source{f.network}}
	is := f.work(t.Context(), t, f.start(t, f.wanted()), nil)
	f.wantWindows(t, "")
	if is.State != backfill.Done || is.Parts != 1 || is.Fraction != 1 || is.Stored != 4 {
		t.Errorf("the backfill is %+v", is)
	}
}

func TestHopelessBackfillFails(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*sensorFixture){
		"serves no past readings": func(f *sensorFixture) { f.feed.AnyWindow = false },
		"status 403":              func(f *sensorFixture) { f.network.fatal = func(int) error { return statusError(t, 403) } },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(sqlstoretest.SQLite(t), 3)
			spoil(f)
			is := f.work(t.Context(), t, f.start(t, f.wanted()), nil)
			if is.State != backfill.Failed || !strings.Contains(is.Error, name) {
				t.Errorf("the backfill is %+v", is)
			}
		})
	}
}

// Failures with progress between them do not lengthen the wait.
func TestBackoffBeginsAgainAfterProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(end))
		f := newFixture(sqlstoretest.SQLite(t), 0)
		f.feed.Source = whole{source{f.network}}
		f.network.fatal = func(call int) error {
			if call%2 == 1 {
				return errors.New("status 503")
			}
			return nil
		}
		began := time.Now()
		is := f.work(t.Context(), t, f.start(t, f.wanted()), nil)
		if is.State != backfill.Done {
			t.Errorf("the backfill is %+v", is)
		}
		if got, most := time.Since(began), 90*time.Second; got > most {
			t.Errorf("four windows with a failure each took %s, want at most %s", got, most)
		}
	})
}

func TestCancelledBackfillStops(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		f := newFixture(db, 3)
		job := f.start(t, f.wanted())
		other := f.wanted()
		other.Window.From = other.Window.From.Add(time.Hour)
		_, err := f.Start(t.Context(), other)
		if is, ok := errors.AsType[*backfill.OtherError](err); !ok {
			t.Errorf("another backfill beside a running one: got error %v, want one of the type %T", err, is)
		} else if is.Job.ID != job.ID {
			t.Errorf("another backfill beside a running one: got error %v of the job %s, want %s", err, is.Job.ID, job.ID)
		}
		f.network.fail = func(string, int) error { return f.Cancel(t.Context(), "sensors") }
		is := f.work(t.Context(), t, job, nil)
		if is.State != backfill.Cancelled || f.network.calls > 3 {
			t.Errorf("after %d calls the backfill is %+v", f.network.calls, is)
		}
		if err := f.Cancel(t.Context(), "sensors"); !errors.Is(err, backfill.ErrNone) {
			t.Errorf("cancelling twice: %v", err)
		}
		if next := f.start(t, other); next.ID == job.ID {
			t.Error("a backfill of another range continues the cancelled one")
		}
	})
}

func TestQuitLeavesBackfillToOthers(t *testing.T) {
	t.Parallel()
	f := newFixture(sqlstoretest.SQLite(t), 3)
	job := f.start(t, f.wanted())
	quit := make(chan struct{})
	f.network.fail = func(string, int) error {
		select {
		case <-quit:
		default:
			close(quit)
		}
		return nil
	}
	if is := f.work(t.Context(), t, job, quit); is.State != backfill.Running || is.Fraction == 0 || is.Fraction == 1 {
		t.Errorf("after quitting the backfill is %+v", is)
	}
	if is := f.work(t.Context(), t, job, nil); is.State != backfill.Done {
		t.Errorf("the next worker leaves %+v", is)
	}
}

// A command without --to continues the backfill that began at the same time, unless it was cancelled.
func TestBackfillWithoutEnd(t *testing.T) {
	t.Parallel()
	f := newFixture(sqlstoretest.SQLite(t), 1)
	open := f.wanted()
	open.Window.To = time.Time{}
	first := f.start(t, open)
	if age := time.Since(first.Window.To); age < 0 || age > time.Hour {
		t.Errorf("the window ends %s ago, want now", age)
	}
	if got := f.start(t, open); got.ID != first.ID || !got.Window.To.Equal(first.Window.To) {
		t.Errorf("the same command starts %+v, want to continue %+v", got, first)
	}
	if err := f.Cancel(t.Context(), "sensors"); err != nil {
		t.Fatal(err)
	}
	if got := f.start(t, open); got.ID == first.ID {
		t.Error("a cancelled backfill is continued")
	}
	open.Window.From = time.Now().Add(time.Hour)
	if err := f.Cancel(t.Context(), "sensors"); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Start(t.Context(), open); !errors.Is(err, backfill.ErrEmpty) {
		t.Errorf("a range of the future: %v", err)
	}
}
