package verify

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/schema"
)

// metrics is what the service counts.
type metrics struct {
	outcomes       *prometheus.CounterVec
	calls          *prometheus.CounterVec
	took           *prometheus.HistogramVec
	contradictions *prometheus.CounterVec
	enumerationAlarms   prometheus.Counter
	overdue        prometheus.Counter
	undecryptable       prometheus.Counter
	deleted        prometheus.Counter
	failures       *prometheus.CounterVec

	// What may fail again and again, and is said once.
	claims, records, counts, rereads, deletions *failurelog.Outage

	pending [len(schema.Worlds)]atomic.Int64 // as of the last count
}

func newMetrics(s *Service, reg prometheus.Registerer) (*metrics, error) {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		outcomes: counters("vayu_verify_outcomes_total", "Verifications that have reached a final state, by who was asked.", "world", "provider", "outcome"),
		calls:    counters("vayu_verify_calls_total", "Calls of banks, by what they were asked and what they said.", "provider", "call", "result"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_verify_call_seconds", Help: "What calls of banks took.",
			Buckets: []float64{.001, .005, .01, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}, []string{"provider", "call"}),
		contradictions: counters("vayu_verify_contradictions_total", "Banks that have contradicted a verdict, which stays.", "provider"),
		enumerationAlarms:   counter("vayu_verify_enumeration_alarms_total", "Keys that have asked about many accounts that do not exist within an hour."),
		overdue:        counter("vayu_verify_overdue_total", "Deposits that were not asked for because their lease was nearly over; they are asked about later."),
		undecryptable:       counter("vayu_verify_unopened_total", "Verifications that are pending and cannot be read, because another key has sealed them."),
		deleted:        counter("vayu_verify_deleted_total", "Finished verifications that were deleted because they are older than they are kept."),
		failures:       counters("vayu_verify_store_failures_total", "Times that the state store could not be asked or written to, by what for.", "doing"),
	}
	trouble := func(doing, meanwhile string) *failurelog.Outage {
		return failurelog.New(s.Log, "verifications: the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
	}
	m.claims = trouble("claim", "what is due waits")
	m.records = trouble("record", "verdicts are asked for again later")
	m.counts = trouble("count", "gauges stay as they were")
	m.rereads = trouble("reread", "who waits for a verdict that another instance is told gets it later")
	m.deletions = trouble("delete", "what is too old stays")
	if reg == nil {
		return m, nil
	}
	all := []prometheus.Collector{
		m.outcomes, m.calls, m.took, m.contradictions, m.enumerationAlarms, m.overdue, m.undecryptable, m.deleted, m.failures,
	}
	for _, world := range schema.Worlds {
		all = append(all, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_verify_pending", Help: "Verifications that are pending, as of the last count, which is at most a minute old.",
			ConstLabels: prometheus.Labels{"world": world.String()},
		}, func() float64 { return float64(m.pending[world].Load()) }))
	}
	for _, c := range all {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of verifications: %w", err)
		}
	}
	return m, nil
}

// called counts a call.
func (m *metrics) called(l *connection, call, result string, took time.Duration) {
	m.calls.WithLabelValues(l.Name, call, result).Inc()
	m.took.WithLabelValues(l.Name, call).Observe(took.Seconds())
}

// finished counts a verification that has reached a final state.
func (m *metrics) finished(r *Record) {
	m.outcomes.WithLabelValues(r.Owner.World.String(), r.Provider, string(r.State)).Inc()
}

// String is what metrics and logs call it.
func (o Outcome) String() string {
	if o < Pending || o > NotMade {
		return "unknown outcome"
	}
	return [...]string{"pending", "found", "not_found", "unknown", "not_made"}[o]
}

// resultOf is what metrics call a word.
func resultOf(w *providerResult) string {
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

// count counts what a word has made of a verification.
func (s *Service) count(out *result) {
	switch out.transition {
	case succeed, fail:
		s.metrics.finished(&out.Record)
		s.missed(&out.Record)
		if out.transition == fail && !reached(&out.Record) {
			s.Log.Warn("a verification is given up", "verification", out.ID, "provider", out.Provider, "tries", out.Tries, "code", string(out.ErrorCode))
		}
	case noop, retryLater, retryAsNew, requeue, resend:
	}
}
