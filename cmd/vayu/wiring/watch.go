package wiring

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/cmd/vayu/status"
	"vayu/internal/access/audit"
	"vayu/internal/failurelog"
	"vayu/internal/leader"
	"vayu/internal/sleep"
)

const (
	// storeCheckInterval is the pause between store checks. Alerts fire only after minutes, so shorter pauses are
	// useless.
	storeCheckInterval = 15 * time.Second
	// The leader checks the ledger some minutes after it becomes the leader, and then once a day. A check reads every
	// posting, so it should not compete with other work at startup.
	ledgerCheckDelay    = 5 * time.Minute
	ledgerCheckInterval = 24 * time.Hour
	// The leader retries a failed check after ledgerRetryInterval. It has at least ten attempts before the alert
	// LedgerUnverified fires.
	ledgerRetryInterval = 5 * time.Minute
	// headsInterval is the interval at which audit heads (hashes of the last rows) are copied to a file. If the
	// last row is removed from the audit log later, the copied head reveals the removal.
	headsInterval = time.Minute
)

// watcher checks the stores and the ledger at intervals, and sets the metrics about them.
type watcher struct {
	service        *Service
	up             *prometheus.GaugeVec // by store
	faults         atomic.Int64         // faults that the last ledger check found
	verified       atomic.Int64         // time of the last completed ledger check, Unix seconds
	ledgerFailures *failurelog.Log
	headFailures   *failurelog.Log
}

func newWatcher(s *Service, reg prometheus.Registerer) *watcher {
	auto := promauto.With(reg)
	w := &watcher{service: s, up: auto.NewGaugeVec(prometheus.GaugeOpts{
		Name: "vayu_store_up", Help: "1 if the store responds (clickhouse, state, kafka), else 0; checked every 15 seconds.",
	}, []string{"store"})}
	failures := auto.NewCounter(prometheus.CounterOpts{
		Name: "vayu_ledger_verify_failures_total", Help: "Ledger checks that failed because of the state store.",
	})
	w.ledgerFailures = failurelog.New(s.log, "ledger: the state store", "checking the ledger", "the metrics keep the last result", failures)
	w.headFailures = failurelog.New(s.log, "audit: the copy of its heads", "copying the heads of the audit log", "the next copy will have them", nil)
	gauge := func(name, help string, of func() float64) {
		auto.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, of)
	}
	gauge("vayu_ledger_faults", "Faults found by the last ledger check.", func() float64 { return float64(w.faults.Load()) })
	gauge("vayu_ledger_verified_timestamp_seconds", "Time of the last completed ledger check of this leader, Unix seconds; 0 before the first one.", func() float64 { return float64(w.verified.Load()) })
	gauge("vayu_data_free_bytes", "Free space on the disk of the data directory, bytes.", func() float64 { free, _ := status.DiskSpace(s.Data); return free })
	gauge("vayu_data_size_bytes", "Size of the disk of the data directory, bytes.", func() float64 { _, size := status.DiskSpace(s.Data); return size })
	return w
}

func (w *watcher) run(ctx context.Context) error {
	for {
		w.checkStores(ctx)
		if !sleep.For(ctx, storeCheckInterval) {
			return nil
		}
	}
}

// runLedgerChecks checks the ledger and copies the audit heads while this instance is the leader. When the instance is
// no longer the leader, it resets the ledger metrics, so that only the leader reports results.
func (w *watcher) runLedgerChecks(ctx context.Context) error {
	c := leader.Config{DB: w.service.state, Name: "books", Log: w.service.log, Metrics: w.service.metrics}
	return leader.Run(ctx, c, func(ctx context.Context, _ leader.Fence) error {
		defer func() {
			w.faults.Store(0)
			w.verified.Store(0)
		}()
		var copying sync.WaitGroup
		copying.Go(func() { w.copyHeads(ctx) })
		repeatLedgerChecks(ctx, w.checkLedger)
		copying.Wait()
		return nil
	})
}

// copyHeads copies the audit heads (hashes of the last rows) to a file at intervals until ctx ends. It logs the hash of
// each copy, so that a later change of the file can be detected. audit.KeyHeads adds MACs to heads that lack them.
func (w *watcher) copyHeads(ctx context.Context) {
	path := cmp.Or(w.service.Access.AuditHeads, filepath.Join(w.service.Data, "audit-heads.ndjson"))
	heads := audit.NewHeadLog(path)
	for ok := true; ok; ok = sleep.For(ctx, headsInterval) {
		n, sum, err := heads.Copy(ctx, w.service.state, time.Now())
		err = errors.Join(err, audit.KeyHeads(ctx, w.service.state, time.Now()))
		w.headFailures.Observe(ctx, err)
		if n > 0 {
			w.service.log.InfoContext(ctx, "heads of the audit log copied", "heads", n, "file", path, "sha256", sum)
		}
	}
}

func (w *watcher) checkStores(ctx context.Context) {
	ctx, done := context.WithTimeout(ctx, readyTimeout)
	defer done()
	for store, status := range w.service.checkStores(ctx) {
		up := 0.0
		if status == storeOK {
			up = 1
		}
		w.up.WithLabelValues(store).Set(up)
	}
}

// repeatLedgerChecks calls `prove`, which performs one ledger check, at intervals until ctx ends. If `prove` returns
// false, the check could not be completed, and is retried after ledgerRetryInterval.
func repeatLedgerChecks(ctx context.Context, prove func(context.Context) bool) {
	for wait := ledgerCheckDelay; sleep.For(ctx, wait); {
		wait = ledgerCheckInterval
		if !prove(ctx) {
			wait = ledgerRetryInterval
		}
	}
}

// checkLedger checks all ledgers and updates the metrics. It returns false if it could not finish the check.
func (w *watcher) checkLedger(ctx context.Context) bool {
	report, err := status.CheckLedgers(ctx, w.service.state, "")
	w.ledgerFailures.Observe(ctx, err)
	if err != nil {
		return false
	}
	w.faults.Store(report.FaultCount)
	w.verified.Store(time.Now().Unix())
	for _, f := range report.Faults {
		w.service.log.ErrorContext(ctx, "ledger check found a fault", "fault", f.String())
	}
	return true
}
