// Package quota counts the calls of accounts: by month towards the quotas of their plans, and by day for their usage.
//
// An instance counts in memory, and writes its counts in batches more than twice a second. It reads the totals of all
// instances, so that the instances share each quota.
package quota

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Config holds the dependencies of Counters.
type Config struct {
	DB *sqlstore.DB
	// Plans has the calls per month of each plan. A plan with 0 calls has no limit.
	Plans map[string]int64
	// Events receives the quota events; nil drops them.
	Events Events
	// Missing is called after a flush has dropped the usage of accounts or keys that are no longer in the store.
	Missing func()
	Log     *slog.Logger
	Metrics prometheus.Registerer
	Now     func() time.Time
}

// Events appends events for an account's webhooks to the outbox (table of unpublished events), in the
// transaction of the change that the event reports.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// Counters has the usage that this instance has counted. An account is dirty while it has usage that is not in the
// store. Counters has a list of the dirty accounts, so that a flush visits no others.
type Counters struct {
	Config

	metrics *metrics
	warned  sync.Map // plans that are not configured and already logged
	today   atomic.Pointer[day]

	mu       sync.Mutex // guards the fields below; locked after Account.mu
	accounts map[string]*Account
	dirty    []*Account

	// flushing is a channel of capacity one that serves as a mutex. Flush and ReadTotals hold the mutex while they run.
	// It guards the fields below.
	flushing chan struct{}
	failed   *batch    // batch of a failed flush, which the next flush repeats
	period   string    // month of the last reading of totals
	readAt   time.Time // start of the last reading of totals
}

// New returns counters without usage. It panics if a metric is already registered.
func New(c Config) *Counters {
	l := &Counters{Config: c, accounts: map[string]*Account{}, flushing: make(chan struct{}, 1)}
	l.metrics = newMetrics(l, c.Metrics)
	return l
}

// A call must count on all instances within a second. An instance writes its usage every 400 ms and reads the
// totals every 200 ms. A call thus counts on other instances after about 600 ms at most.
const (
	totalsInterval = 200 * time.Millisecond
	flushEvery     = 2 // one flush after every second reading of totals
	// flushTimeout limits every flush, including its wait for the store.
	flushTimeout = 5 * time.Second
	// flushKept is how long the store keeps the id of a written batch. A failed batch is repeated at each flush,
	// every 400 ms, so an hour is ample to recognize the repetition.
	flushKept = time.Hour
)

// Run flushes usage, and reads the totals of all instances, until ctx ends. It logs errors of the store. When ctx ends,
// it flushes the remaining usage, and returns the error of this last flush.
func (c *Counters) Run(ctx context.Context) error {
	const store = "access: the state store"
	reading := failurelog.New(c.Log, store, "reading quotas", "calls are counted on this instance only", nil)
	writing := failurelog.New(c.Log, store, "writing usage", "it is kept in memory", nil)
	tick := 0
	sleep.Every(ctx, totalsInterval, func(ctx context.Context) {
		reading.Observe(ctx, c.ReadTotals(ctx))
		if tick++; tick%flushEvery == 0 {
			writing.Observe(ctx, c.Flush(ctx))
		}
	})
	return c.Flush(context.WithoutCancel(ctx))
}
