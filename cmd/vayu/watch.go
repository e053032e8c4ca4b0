package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sys/unix"

	"vayu/internal/access"
	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sleep"
)

const (
	// lookEvery is the time between two looks at what the service depends on: alerts
	// wait for minutes, and a look costs one round trip.
	lookEvery = 15 * time.Second
	// The books are proved some minutes after a start, when other work of it is done,
	// and then daily: a proof reads every posting once.
	booksFirst = 5 * time.Minute
	booksEvery = 24 * time.Hour
	// One that could not be ended, because the state store failed, is made again soon:
	// a new leader has ten tries before BooksUnproved rings, after an hour.
	booksAgain = 5 * time.Minute
	// headsEvery is how often the heads of the audit log are copied to a file: what is
	// removed later than that is found.
	headsEvery = time.Minute
)

// watcher tells metrics how what the service depends on is doing.
type watcher struct {
	service  *service
	up       *prometheus.GaugeVec // store
	faults   atomic.Int64         // of the books
	verified atomic.Int64         // when, in seconds since 1970
	verify   *failurelog.Outage
	heads    *failurelog.Outage
}

// newWatcher registers its metrics.
func newWatcher(s *service, reg prometheus.Registerer) (*watcher, error) {
	w := &watcher{service: s, up: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vayu_store_up", Help: "1 while what the service depends on answers (clickhouse, state, kafka), else 0; as of 15 seconds ago at most.",
	}, []string{"store"})}
	failures := prometheus.NewCounter(prometheus.CounterOpts{
		Name: "vayu_ledger_verify_failures_total", Help: "Proofs of the books that could not be ended, because the state store failed.",
	})
	w.verify = failurelog.New(s.log, "books: the state store", "proving the books", "the last figures stand", failures)
	w.heads = failurelog.New(s.log, "audit: the copy of its heads", "copying the heads of the audit log", "the next copy has them", nil)
	gauge := func(name, help string, of func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, of)
	}
	for _, c := range []prometheus.Collector{
		w.up, failures,
		gauge("vayu_ledger_faults", "Faults that the last proof of the books has found.", func() float64 { return float64(w.faults.Load()) }),
		gauge("vayu_ledger_verified_timestamp_seconds", "When the books were last proved by this instance, seconds since 1970; 0 for not since it leads.", func() float64 { return float64(w.verified.Load()) }),
		gauge("vayu_data_free_bytes", "Room that is left on the disk of the data directory, bytes.", func() float64 { free, _ := room(s.Data); return free }),
		gauge("vayu_data_size_bytes", "Size of the disk of the data directory, bytes.", func() float64 { _, size := room(s.Data); return size }),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of what the service depends on: %w", err)
		}
	}
	return w, nil
}

// room is what is free on the disk of a directory, and how large it is, bytes; nothing
// when that cannot be found out.
func room(dir string) (free, size float64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0
	}
	return float64(s.Bavail) * float64(s.Bsize), float64(s.Blocks) * float64(s.Bsize)
}

// run looks until ctx ends.
func (w *watcher) run(ctx context.Context) error {
	for {
		w.look(ctx)
		if !sleep.For(ctx, lookEvery) {
			return nil
		}
	}
}

// books proves the books again and again, on one instance of all, whose figures they are.
func (w *watcher) books(ctx context.Context) error {
	c := leader.Config{DB: w.service.state, Name: "books", Log: w.service.log, Metrics: w.service.metrics}
	return leader.Run(ctx, c, func(ctx context.Context, _ leader.Fence) error {
		defer func() {
			w.faults.Store(0)
			w.verified.Store(0)
		}()
		var copying sync.WaitGroup
		copying.Go(func() { w.copyHeads(ctx) })
		proofs(ctx, w.prove)
		copying.Wait()
		return nil
	})
}

// copyHeads copies the heads of the audit log to a file until ctx ends. The log of the
// service has the hash of each copy, so that the file itself cannot be changed unseen.
func (w *watcher) copyHeads(ctx context.Context) {
	path := cmp.Or(w.service.Access.AuditHeads, filepath.Join(w.service.Data, "audit-heads.ndjson"))
	heads := access.NewHeadLog(path)
	for ok := true; ok; ok = sleep.For(ctx, headsEvery) {
		n, sum, err := heads.Copy(ctx, w.service.state, time.Now())
		err = errors.Join(err, access.KeyHeads(ctx, w.service.state, time.Now()))
		w.heads.Tell(ctx, err)
		if n > 0 {
			w.service.log.InfoContext(ctx, "heads of the audit log copied", "heads", n, "file", path, "sha256", sum)
		}
	}
}

// look asks what the service depends on whether it answers.
func (w *watcher) look(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, readyPatience)
	defer done()
	for store, word := range w.service.askStores(ctx) {
		up := 0.0
		if word == fine {
			up = 1
		}
		w.up.WithLabelValues(store).Set(up)
	}
}

// proofs has the books proved again and again until ctx ends. Prove reports whether a
// proof came to its end.
func proofs(ctx context.Context, prove func(context.Context) bool) {
	for wait := booksFirst; sleep.For(ctx, wait); {
		wait = booksEvery
		if !prove(ctx) {
			wait = booksAgain
		}
	}
}

// prove proves the books, and reports whether it could.
func (w *watcher) prove(ctx context.Context) bool {
	report, err := proveBooks(ctx, w.service.state, "")
	w.verify.Tell(ctx, err)
	if err != nil {
		return false
	}
	w.faults.Store(report.Wrong)
	w.verified.Store(time.Now().Unix())
	for _, f := range report.Faults {
		w.service.log.ErrorContext(ctx, "the books do not fit", "fault", f.String())
	}
	return true
}
