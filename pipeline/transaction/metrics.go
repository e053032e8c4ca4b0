package transaction

import (
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/internal/failurelog"
	"vayu/schema"
)

// Metrics are the metrics of one kind of transactions, such as recharges.
type Metrics struct {
	Overdue prometheus.Counter // calls not made because the lease was about to expire
	Records *failurelog.Log    // failures to record a result

	prefix, list            string
	log                     *slog.Logger
	auto                    promauto.Factory
	outcomes, calls         *prometheus.CounterVec
	callSeconds             *prometheus.HistogramVec
	failures                *prometheus.CounterVec
	claims, counts, rereads *failurelog.Log
	pending, old            perWorld
}

// perWorld has a number of transactions for each world (live or sandbox), as of the last count.
type perWorld [len(schema.Worlds)]atomic.Int64

func newMetrics(list, prefix string, log *slog.Logger, reg prometheus.Registerer) *Metrics {
	m := &Metrics{prefix: prefix, list: list, log: log, auto: promauto.With(reg)}
	m.outcomes = m.Counters("outcomes_total",
		"Transactions that have reached a final state, by provider; provider is empty for those that failed before a call.",
		"world", "provider", "outcome")
	m.calls = m.Counters("calls_total", "Calls of providers, by kind of call and result.", "provider", "call", "result")
	m.callSeconds = m.auto.NewHistogramVec(prometheus.HistogramOpts{
		Name: prefix + "call_seconds", Help: "Duration of calls of providers.",
		Buckets: []float64{.001, .005, .01, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
	}, []string{"provider", "call"})
	m.Overdue = m.Counter("overdue_total",
		"Orders that were not sent because their lease was about to expire; a status enquiry follows.")
	m.failures = m.Counters("store_failures_total", "Failed reads and writes of the state store, by purpose.", "doing")
	m.gauge("pending", "Transactions that are pending, as of the last count, which is at most a minute old.", &m.pending)
	m.claims = m.FailureLog("claim", "due calls stay queued")
	m.Records = m.FailureLog("record", "a status enquiry follows later")
	m.counts = m.FailureLog("count", "gauges keep their last values")
	m.rereads = m.FailureLog("reread", "waiting clients see results of other instances with a delay")
	return m
}

// Counters creates counters with labels.
func (m *Metrics) Counters(name, help string, labels ...string) *prometheus.CounterVec {
	return m.auto.NewCounterVec(prometheus.CounterOpts{Name: m.prefix + name, Help: help}, labels)
}

// Counter creates a counter.
func (m *Metrics) Counter(name, help string) prometheus.Counter {
	return m.auto.NewCounter(prometheus.CounterOpts{Name: m.prefix + name, Help: help})
}

func (m *Metrics) gauge(name, help string, of *perWorld) {
	for _, world := range schema.Worlds {
		m.auto.NewGaugeFunc(prometheus.GaugeOpts{
			Name: m.prefix + name, Help: help, ConstLabels: prometheus.Labels{"world": world.String()},
		}, func() float64 { return float64(of[world].Load()) })
	}
}

// GaugeOld adds gauges of the transactions that are pending for longer than oldAge.
func (m *Metrics) GaugeOld(name, help string) { m.gauge(name, help, &m.old) }

// FailureLog returns a log of store failures. `doing` names the operation, and `meanwhile` describes the effect of a
// failure.
func (m *Metrics) FailureLog(doing, meanwhile string) *failurelog.Log {
	return failurelog.New(m.log, m.list+": the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
}

// ObserveCall counts a call and its duration.
func (m *Metrics) ObserveCall(provider, call, result string, took time.Duration) {
	m.calls.WithLabelValues(provider, call, result).Inc()
	m.callSeconds.WithLabelValues(provider, call).Observe(took.Seconds())
}

// Finished counts a transaction that has reached a final state.
func (m *Metrics) Finished(b *Base, state string) {
	m.outcomes.WithLabelValues(b.Owner.World.String(), b.Provider, state).Inc()
}
