package backfill

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"vayu/ingest"
	"vayu/ingest/fetch"
	"vayu/ingest/runner"
	"vayu/internal/panics"
	"vayu/internal/sleep"
)

// Worker works on backfills. All fields are required.
type Worker struct {
	Store *Store
	// Feed returns a new source with its schedule. Each goroutine calls it, because a source allows no concurrent use.
	Feed func(name string) (runner.Feed, error)
	// Runner stores readings and records runs.
	Runner *runner.Runner
	// Changed notifies the roll-up that readings were stored or withdrawn.
	Changed func()
	Metrics *Metrics
	Log     *slog.Logger
}

const (
	// chunkParts is the number of partitions that one run fetches in sequence. Each run adds a row to the journal, so a
	// run for each partition would add too many rows.
	chunkParts = 50
	// Limits of the backoff after a failure that affects all partitions.
	firstRetry   = 15 * time.Second
	longestRetry = 10 * time.Minute
)

// errRefused means that the backfill cannot continue until an operator changes something, such as the API key.
var errRefused = errors.New("the backfill cannot continue")

// Work fetches the missing readings of a running backfill, the newest first. It returns nil when the backfill or ctx
// has ended. When `quit` is closed, it ends after the runs in progress. The error is one of the store or of w.Feed.
func (w *Worker) Work(ctx context.Context, id string, quit <-chan struct{}) error {
	job, parts, err := w.Store.load(ctx, id)
	if errors.Is(err, ErrNone) {
		return nil
	}
	if err != nil {
		return err
	}
	b := &backfill{Worker: w, job: job, parts: parts, quit: quit, log: w.Log.With("source", job.Source, "backfill", job.ID)}
	b.log.InfoContext(ctx, "fetching past readings", "from", job.Window.From, "to", job.Window.To)
	w.Metrics.begin(&job)
	defer w.Metrics.leave(job.Source)
	ctx = ingest.WithBackground(ctx)
	if err := b.run(ctx); err != nil && !errors.Is(err, ErrNone) && ctx.Err() == nil {
		return err
	}
	return nil
}

// backfill is the state of the work on one backfill in this process.
type backfill struct {
	*Worker

	job  Job
	quit <-chan struct{}
	log  *slog.Logger

	mu    sync.Mutex
	parts []*part
}

// run lists the partitions (unless job.Listed), fetches them with at most job.Parallel workers, and ends the backfill.
func (b *backfill) run(ctx context.Context) error {
	feed, err := b.Feed(b.job.Source)
	if err == nil && !feed.AnyWindow {
		err = ErrNoHistory
	}
	if err != nil {
		return b.finish(ctx, Failed, err.Error())
	}
	if !b.job.Listed {
		if err := b.retry(ctx, func() (bool, error) { return false, b.list(ctx, feed) }); err != nil {
			return b.failed(ctx, err)
		}
	}
	workers := 1
	if _, divided := feed.Source.(ingest.Partitioned); divided {
		workers = max(1, min(b.job.Parallel, len(b.parts)))
	}
	failures := make([]error, workers)
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	for i := range workers {
		all.Go(func() {
			if failures[i] = b.work(limited, i, workers); failures[i] != nil {
				cancel() // the failure concerns all workers
			}
		})
	}
	all.Wait()
	if err := errors.Join(failures...); err != nil || ctx.Err() != nil {
		return b.failed(ctx, errors.Join(failures...))
	}
	return b.end(ctx)
}

// ErrNoHistory means that past readings cannot be fetched, because the source's requests cannot name a time range.
var ErrNoHistory = errors.New("the source serves no past readings: its requests do not name a time range")

// failed ends the backfill as failed if err is errRefused. It returns any other error unchanged. Work then returns that
// error, and its caller calls Work again.
func (b *backfill) failed(ctx context.Context, err error) error {
	if errors.Is(err, errRefused) {
		return b.finish(ctx, Failed, err.Error())
	}
	return err
}

// finish ends the backfill in the store and counts it.
func (b *backfill) finish(ctx context.Context, state State, fault string) error {
	err := b.Store.finish(ctx, &b.job, state, fault)
	if err == nil {
		b.Metrics.ended.WithLabelValues(b.job.Source, string(state)).Inc()
	}
	return err
}

// end ends the backfill, unless a partition with fewer than maxFailures failures remains to be fetched. The state is
// Failed if a partition was skipped after maxFailures failures, else Done.
func (b *backfill) end(ctx context.Context) error {
	left := 0
	for _, p := range b.parts {
		if p.from.After(b.job.Window.From) {
			if p.failures < maxFailures {
				return nil // quit was closed: an instance continues the backfill later
			}
			left++
		}
	}
	b.log.InfoContext(ctx, "past readings are fetched", "partitions", len(b.parts), "left_out", left)
	if left > 0 {
		return b.finish(ctx, Failed, fmt.Sprintf("%d of %d partitions failed %d times", left, len(b.parts), maxFailures))
	}
	return b.finish(ctx, Done, "")
}

// list requests the list of partitions from the source and stores the wanted ones. It skips partitions whose newest
// reading is before the window. It stores one part for a source without partitions.
func (b *backfill) list(ctx context.Context, feed runner.Feed) error {
	divided, ok := feed.Source.(ingest.Partitioned)
	if !ok {
		b.parts = []*part{{from: b.job.Window.To}}
		return b.Store.list(ctx, &b.job, b.parts)
	}
	var recorder ingest.Recorder
	var listed []ingest.Partition
	err := panics.Catch(func() (err error) {
		listed, err = divided.Partitions(ingest.WithRecorder(ctx, &recorder), b.job.Window)
		return err
	})
	if err != nil {
		return err
	}
	if err := b.Store.note(ctx, b.job.ID, recorder.Received().Requests, ""); err != nil {
		return err
	}
	b.parts = nil
	missing := slices.Clone(b.job.Partitions)
	for _, p := range listed {
		wanted := len(b.job.Partitions) == 0 || slices.Contains(b.job.Partitions, p.Key)
		missing = slices.DeleteFunc(missing, func(key string) bool { return key == p.Key })
		if wanted && (p.Newest.IsZero() || !p.Newest.Before(b.job.Window.From)) {
			b.parts = append(b.parts, &part{key: p.Key, fields: p.Fields, from: b.job.Window.To})
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: the network lists no partition %s", errRefused, strings.Join(missing, ", "))
	}
	return b.Store.list(ctx, &b.job, b.parts)
}

// work fetches chunks of partitions, with retries, until none remains or quit is closed. `worker` is the number of this
// worker, from 0. `workers` is the number of all workers.
func (b *backfill) work(ctx context.Context, worker, workers int) error {
	feed, err := b.Feed(b.job.Source)
	if err != nil {
		return err
	}
	return b.retry(ctx, func() (bool, error) { return b.chunks(ctx, feed, worker, workers) })
}

// retry calls `do` until it succeeds, quit is closed, or ctx ends. It stores the error of each retried call as the last
// error of the backfill. It does not retry after errRefused, [ErrNone], or a reply for which `refused` is true. The
// delay between two calls grows with each failure, and begins again at firstRetry after a call that made progress.
func (b *backfill) retry(ctx context.Context, do func() (progress bool, err error)) error {
	for failures := 0; ; failures++ {
		progress, err := do()
		if progress {
			failures = 0
		}
		switch {
		case err == nil, errors.Is(err, ErrNone), ctx.Err() != nil:
			return err
		case errors.Is(err, errRefused):
			return err
		case refused(err):
			return fmt.Errorf("%w: %w", errRefused, err)
		}
		b.log.WarnContext(ctx, "fetching past readings failed, retrying", "error", err)
		if err := b.Store.note(ctx, b.job.ID, 0, err.Error()); err != nil {
			return err
		}
		select {
		case <-b.quit:
			return nil
		case <-ctx.Done():
			return nil
		case <-time.After(sleep.Backoff(failures, firstRetry, longestRetry)):
		}
	}
}

// refused reports whether err is a reply with status 401, 402 or 403. Only an operator can resolve these, so a retry is
// useless.
func refused(err error) bool {
	status, ok := errors.AsType[*fetch.StatusError](err)
	return ok && slices.Contains([]int{http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden}, status.Status)
}

// chunks fetches chunks of partitions until none remains, quit is closed, or a failure affects all partitions.
// `progress` reports whether at least one chunk was fetched.
func (b *backfill) chunks(ctx context.Context, feed runner.Feed, worker, workers int) (progress bool, err error) {
	for ctx.Err() == nil {
		select {
		case <-b.quit:
			return progress, nil
		default:
		}
		chunk := b.claim(workers)
		if len(chunk) == 0 {
			return progress, nil
		}
		err := b.fetch(ctx, feed, chunk, worker, workers)
		b.release(chunk)
		if err != nil {
			return progress, err
		}
		progress = true
	}
	return progress, nil
}

// claim returns the next partitions for one worker: at most chunkParts, and at most an equal share of all partitions.
// Those with the fewest failures come first. Among these, partitions that lack the newest readings come first.
func (b *backfill) claim(workers int) []*part {
	b.mu.Lock()
	defer b.mu.Unlock()
	var open []*part
	for _, p := range b.parts {
		if !p.busy && p.failures < maxFailures && p.from.After(b.job.Window.From) {
			open = append(open, p)
		}
	}
	slices.SortStableFunc(open, func(x, y *part) int {
		if x.failures != y.failures {
			return x.failures - y.failures
		}
		return y.from.Compare(x.from)
	})
	chunk := open[:min(len(open), chunkParts, max(1, (len(b.parts)+workers-1)/workers))]
	for _, p := range chunk {
		p.busy = true
	}
	return chunk
}

func (b *backfill) release(chunk []*part) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range chunk {
		p.busy = false
	}
}

// fetch fetches the next window of each partition of a chunk.
func (b *backfill) fetch(ctx context.Context, feed runner.Feed, chunk []*part, worker, workers int) error {
	run := runner.Once{Feed: feed, Kind: ingest.BackfillRun, Worker: worker, Workers: workers, Window: b.window(chunk[0], feed)}
	byKey := make(map[string]*part, len(chunk))
	var parts []ingest.Partition
	for _, p := range chunk {
		byKey[p.key] = p
		w := b.window(p, feed)
		parts = append(parts, ingest.Partition{Key: p.key, Fields: p.fields, Window: w, Failing: p.failures > 0})
		if w.From.Before(run.Window.From) {
			run.Window.From = w.From
		}
		if w.To.After(run.Window.To) {
			run.Window.To = w.To
		}
	}
	divided, ok := feed.Source.(ingest.Partitioned)
	if ok {
		run.Feed.Source = partsOf{divided, parts}
	}
	run.Stored = func(ctx context.Context, batch *ingest.Batch) error {
		results := batch.Partitions
		if !ok { // without partitions, the window is complete only after the last batch, see below
			results = nil
		}
		return b.advance(ctx, byKey, feed, results, batch.Rows())
	}
	done, err := b.Runner.Once(ctx, run)
	if done.Stored+done.Withdrawn > 0 {
		b.Changed()
	}
	if err == nil && !ok {
		err = b.advance(ctx, byKey, feed, []ingest.PartitionResult{{Key: chunk[0].key}}, 0)
	}
	if err != nil {
		return err
	}
	return b.Store.note(ctx, b.job.ID, done.Received.Requests, "")
}

// window returns the next window of a partition. It ends where the fetched range begins. It is one BackfillStep of the
// feed long, or shorter at the start of the backfill's range.
func (b *backfill) window(p *part, feed runner.Feed) ingest.Window {
	w := ingest.Window{From: p.from.Add(-feed.BackfillStep()), To: p.from}
	if w.From.Before(b.job.Window.From) {
		w.From = b.job.Window.From
	}
	return w
}

// advance stores the results of partitions, and the number of stored readings. It changes the partitions in memory only
// after the store has committed the change.
func (b *backfill) advance(ctx context.Context, byKey map[string]*part, feed runner.Feed, results []ingest.PartitionResult, stored int) error {
	if len(results) == 0 && stored == 0 {
		return nil
	}
	changed := make(map[string]part, len(results))
	for _, result := range results {
		if p := byKey[result.Key]; p != nil {
			next := *p
			if next.failures++; !result.Failed {
				next.from, next.failures = b.window(p, feed).From, 0
			}
			changed[result.Key] = next
		}
	}
	if err := b.Store.advance(ctx, b.job.ID, changed, stored); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for key, next := range changed {
		*byKey[key] = next
	}
	b.Metrics.advance(b.job.Source, b.fraction(), time.Now())
	return nil
}

// fraction returns the fetched fraction of the wanted range, 0 to 1. The caller has locked b.mu.
func (b *backfill) fraction() float64 {
	var fetched time.Duration
	for _, p := range b.parts {
		fetched += b.job.Window.To.Sub(p.from)
	}
	return fetched.Seconds() / (b.job.Window.To.Sub(b.job.Window.From).Seconds() * float64(max(1, len(b.parts))))
}

// partsOf is an [ingest.Source] that fetches the given partitions.
type partsOf struct {
	ingest.Partitioned

	parts []ingest.Partition
}

// Fetch implements [ingest.Source].
func (s partsOf) Fetch(ctx context.Context, _ ingest.Window, yield func(*ingest.Batch) error) error {
	return s.FetchPartitions(ctx, s.parts, yield)
}
