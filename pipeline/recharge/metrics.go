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

// metrics is what the service counts.
type metrics struct {
	outcomes    *prometheus.CounterVec
	alarms      *prometheus.CounterVec
	calls       *prometheus.CounterVec
	took        *prometheus.HistogramVec
	redirect    prometheus.Counter
	masked      prometheus.Counter
	overdue     prometheus.Counter
	failures    *prometheus.CounterVec
	plansFailed *prometheus.CounterVec

	// What may fail again and again, and is said once.
	claims, records, counts, rereads, masks *failurelog.Outage

	// As of the last count.
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
		outcomes: counters("vayu_recharge_outcomes_total", "Recharges that have reached a final state, by who was asked; provider is empty for those that failed before.",
			"world", "provider", "outcome"),
		alarms: counters("vayu_recharge_alarms_total", "Providers that have contradicted a final state: late_success for one that had failed, late_failure for one that was charged.", "kind"),
		calls:  counters("vayu_recharge_calls_total", "Calls of providers, by what they were asked and what they said.", "provider", "call", "result"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_recharge_call_seconds", Help: "What calls of providers took.",
			Buckets: []float64{.001, .005, .01, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}, []string{"provider", "call"}),
		redirect:    counter("vayu_recharge_redetections_total", "Recharges that went on with another operator, because the first said that the number is not his."),
		masked:      counter("vayu_recharge_masked_total", "Recharges whose number was masked because they were settled long enough ago."),
		overdue:     counter("vayu_recharge_overdue_total", "Orders that were not sent because their lease was nearly over; they are asked about and sent later."),
		plansFailed: counters("vayu_recharge_plans_failed_total", "Questions for plans that a provider did not answer.", "provider"),
		failures:    counters("vayu_recharge_store_failures_total", "Times that the state store could not be asked or written to, by what for.", "doing"),
	}
	trouble := func(doing, meanwhile string) *failurelog.Outage {
		return failurelog.New(s.Log, "recharges: the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
	}
	m.claims = trouble("claim", "what is due waits")
	m.records = trouble("record", "outcomes are asked for again later")
	m.counts = trouble("count", "gauges stay as they were")
	m.rereads = trouble("reread", "who waits for an outcome that another instance is told gets it later")
	m.masks = trouble("mask", "numbers of old recharges stay in clear")
	for _, kind := range [...]string{alarmLateSuccess, alarmLateFailure} { // a rate of a series that begins with its first alarm misses it
		m.alarms.WithLabelValues(kind)
	}
	if reg == nil {
		return m, nil
	}
	all := []prometheus.Collector{m.outcomes, m.alarms, m.calls, m.took, m.redirect, m.masked, m.overdue, m.plansFailed, m.failures}
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

// called counts a call.
func (m *metrics) called(l *line, call, result string, took time.Duration) {
	m.calls.WithLabelValues(l.Name, call, result).Inc()
	m.took.WithLabelValues(l.Name, call).Observe(took.Seconds())
}

// finished counts a recharge that has reached a final state.
func (m *metrics) finished(r *Record) {
	m.outcomes.WithLabelValues(r.Owner.World.String(), r.Provider, string(r.State)).Inc()
}

// resultOf is what metrics call a word.
func resultOf(w *word) string {
	switch {
	case w.err == nil:
		return w.Outcome.String()
	case errors.Is(w.err, ErrNotAsked):
		return "not_asked"
	case errors.Is(w.err, ErrNotSent):
		return "not_sent"
	case errors.Is(w.err, errPanic):
		return "panic"
	case errors.Is(w.err, context.DeadlineExceeded):
		return "timeout"
	}
	return "error"
}

// count counts and logs what a word has made of a recharge.
func (s *Service) count(out *settled, w *word) {
	r := &out.Record
	switch out.verdict {
	case succeed, fail, refund:
		s.metrics.finished(r)
	case redirect:
		s.metrics.redirect.Inc()
		s.Log.Info("a recharge goes on with another operator", "transaction", r.ID, "operator", r.Operator, "provider", r.Provider)
	case refuse:
		s.Log.Warn("a provider refuses a refund", "transaction", r.ID, "provider", r.Provider)
	case lateSuccess, lateFailure:
		s.metrics.alarms.WithLabelValues(alarmOf(out.verdict)).Inc()
		s.Log.Error("a provider contradicts a final state; it is left as it is, and needs somebody to look into it",
			"alarm", alarmOf(out.verdict), "transaction", r.ID, "state", string(r.State), "said", w.Outcome.String(), "provider", r.Provider, "reference", w.reference, "by", w.by)
	}
}

// oldAge is how long a recharge is pending before it is listed for reconciliation
// (CONTRACT 4).
const oldAge = 24 * time.Hour

// watchPending counts what is pending, until ctx ends.
func (s *Service) watchPending(ctx context.Context) {
	for {
		s.metrics.counts.Tell(ctx, s.countPending(ctx))
		if !sleep.For(ctx, countEvery) {
			return
		}
	}
}

// tallyPending counts in one group: of groups by mode SQLite would read the whole
// table along an index that has them in order.
const tallyPending = `SELECT count(CASE WHEN mode = 'live' THEN 1 END), count(CASE WHEN mode = 'live' AND id < $1 THEN 1 END),
		count(CASE WHEN mode = 'sandbox' THEN 1 END), count(CASE WHEN mode = 'sandbox' AND id < $1 THEN 1 END)
	FROM recharge WHERE state = 'pending'`

// countPending counts what is pending, along its index: an id says when it was made.
func (s *Service) countPending(ctx context.Context) error {
	var pending, old [len(schema.Worlds)]int64
	before, _ := pagination.FirstID(idPrefix, s.Now().Add(-oldAge).UnixMicro())
	err := s.DB.View(ctx).QueryRow(tallyPending, before).Scan(&pending[schema.Live], &old[schema.Live], &pending[schema.Sandbox], &old[schema.Sandbox])
	if err != nil {
		return err
	}
	for world := range pending {
		s.metrics.pending[world].Store(pending[world])
		s.metrics.old[world].Store(old[world])
	}
	return nil
}
