package recharge

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/internal/pagination"
	"vayu/internal/sleep"
	"vayu/schema"
)

type metrics struct {
	outcomes    *prometheus.CounterVec
	alarms      *prometheus.CounterVec
	calls       *prometheus.CounterVec
	callSeconds *prometheus.HistogramVec
	redirect    prometheus.Counter
	masked      prometheus.Counter
	overdue     prometheus.Counter
	failures    *prometheus.CounterVec
	plansFailed *prometheus.CounterVec

	// Failure logs of the state store.
	claims, records, counts, rereads, masks *failurelog.Log

	// Numbers of the last count, by world (live or sandbox).
	pending, old [len(schema.Worlds)]atomic.Int64
}

func newMetrics(s *Service, reg prometheus.Registerer) (*metrics, error) {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		outcomes: counters("vayu_recharge_outcomes_total", "Recharges that have reached a final state, by provider; provider is empty for those that failed before a call.",
			"world", "provider", "outcome"),
		alarms: counters("vayu_recharge_alarms_total", "Providers that have contradicted a final state: late_success for one that had failed, late_failure for one that was charged.", "kind"),
		calls:  counters("vayu_recharge_calls_total", "Calls of providers, by kind of call and result.", "provider", "call", "result"),
		callSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_recharge_call_seconds", Help: "Duration of calls of providers.",
			Buckets: []float64{.001, .005, .01, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}, []string{"provider", "call"}),
		redirect:    counter("vayu_recharge_redetections_total", "Recharges redirected to another operator, because the number does not belong to the first."),
		masked:      counter("vayu_recharge_masked_total", "Recharges whose number was masked because they were settled long enough ago."),
		overdue:     counter("vayu_recharge_overdue_total", "Orders that were not sent because their lease was about to expire; they are retried after a status enquiry."),
		plansFailed: counters("vayu_recharge_plans_failed_total", "Failed requests for plans to a provider.", "provider"),
		failures:    counters("vayu_recharge_store_failures_total", "Failed reads and writes of the state store, by purpose.", "doing"),
	}
	failureLog := func(doing, meanwhile string) *failurelog.Log {
		return failurelog.New(s.Log, "recharges: the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
	}
	m.claims = failureLog("claim", "due calls stay queued")
	m.records = failureLog("record", "a status enquiry follows later")
	m.counts = failureLog("count", "gauges keep their last values")
	m.rereads = failureLog("reread", "waiting clients see results of other instances with a delay")
	m.masks = failureLog("mask", "numbers of old recharges are not masked")
	for _, kind := range [...]string{alarmLateSuccess, alarmLateFailure} { // so that a rate sees the first alarm
		m.alarms.WithLabelValues(kind)
	}
	if reg == nil {
		return m, nil
	}
	all := []prometheus.Collector{m.outcomes, m.alarms, m.calls, m.callSeconds, m.redirect, m.masked, m.overdue, m.plansFailed, m.failures}
	for _, world := range schema.Worlds {
		gauge := func(name, help string, of *atomic.Int64) {
			all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
				Name: name, Help: help, ConstLabels: prometheus.Labels{"world": world.String()},
			}, func() float64 { return float64(of.Load()) }))
		}
		gauge("vayu_recharge_pending", "Recharges that are pending, as of the last count, which is at most a minute old.", &m.pending[world])
		gauge("vayu_recharge_pending_old", "Recharges that have been pending for more than 24 hours, as of the last count.", &m.old[world])
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of recharges: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observeCall(conn *connection, call, result string, took time.Duration) {
	m.calls.WithLabelValues(conn.Name, call, result).Inc()
	m.callSeconds.WithLabelValues(conn.Name, call).Observe(took.Seconds())
}

// countFinished counts a recharge that has reached a final state.
func (m *metrics) countFinished(r *Record) {
	m.outcomes.WithLabelValues(r.Owner.World.String(), r.Provider, string(r.State)).Inc()
}

// resultOf returns the label of a result.
func resultOf(res *providerResult) string {
	switch {
	case res.err == nil:
		return res.Outcome.String()
	case errors.Is(res.err, ErrNotCalled):
		return "not_asked"
	case errors.Is(res.err, ErrNotSent):
		return "not_sent"
	case errors.Is(res.err, errPanic):
		return "panic"
	case errors.Is(res.err, context.DeadlineExceeded):
		return "timeout"
	}
	return "error"
}

// observeResult counts and logs the effect of a provider result.
func (s *Service) observeResult(out *result, res *providerResult) {
	r := &out.Record
	switch out.transition {
	case succeed, fail, refund:
		s.metrics.countFinished(r)
	case redirect:
		s.metrics.redirect.Inc()
		s.Log.Info("a recharge was redirected to another operator", "transaction", r.ID, "operator", r.Operator, "provider", r.Provider)
	case refuseRefund:
		s.Log.Warn("a provider refused a refund", "transaction", r.ID, "provider", r.Provider)
	case lateSuccess, lateFailure:
		s.metrics.alarms.WithLabelValues(alarmOf(out.transition)).Inc()
		s.Log.Error("a provider contradicts a final state; the state is unchanged and needs an investigation",
			"alarm", alarmOf(out.transition), "transaction", r.ID, "state", string(r.State), "said", res.Outcome.String(), "provider", r.Provider, "reference", res.reference, "by", res.by)
	}
}

// oldAge is the age from which a pending recharge is listed for reconciliation.
const oldAge = 24 * time.Hour

// countPendingLoop counts pending recharges until ctx ends.
func (s *Service) countPendingLoop(ctx context.Context) {
	for {
		s.metrics.counts.Observe(ctx, s.countPending(ctx))
		if !sleep.For(ctx, countInterval) {
			return
		}
	}
}

// countPendingQuery has no GROUP BY mode. For that, SQLite would read the whole table along
// an index that is sorted by mode.
const countPendingQuery = `SELECT count(CASE WHEN mode = 'live' THEN 1 END), count(CASE WHEN mode = 'live' AND id < $1 THEN 1 END),
		count(CASE WHEN mode = 'sandbox' THEN 1 END), count(CASE WHEN mode = 'sandbox' AND id < $1 THEN 1 END)
	FROM recharge WHERE state = 'pending'`

// countPending counts the pending recharges and, by their ids, the old ones among them. An id
// contains the time of its creation.
func (s *Service) countPending(ctx context.Context) error {
	var pending, old [len(schema.Worlds)]int64
	before, _ := pagination.FirstID(idPrefix, s.Now().Add(-oldAge).UnixMicro())
	err := s.DB.View(ctx).QueryRow(countPendingQuery, before).Scan(&pending[schema.Live], &old[schema.Live], &pending[schema.Sandbox], &old[schema.Sandbox])
	if err != nil {
		return err
	}
	for world := range pending {
		s.metrics.pending[world].Store(pending[world])
		s.metrics.old[world].Store(old[world])
	}
	return nil
}
