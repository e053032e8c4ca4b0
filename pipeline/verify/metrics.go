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

// metrics holds the counters and gauges of the service.
type metrics struct {
	outcomes          *prometheus.CounterVec
	calls             *prometheus.CounterVec
	took              *prometheus.HistogramVec
	contradictions    *prometheus.CounterVec
	enumerationAlarms prometheus.Counter
	overdue           prometheus.Counter
	undecryptable     prometheus.Counter
	deleted           prometheus.Counter
	failures          *prometheus.CounterVec

	// Failures of repeated operations, each logged once until it recovers.
	claims, records, counts, rereads, deletions *failurelog.Log

	pending [len(schema.Worlds)]atomic.Int64 // pending verifications at the last count, by world (live, sandbox)
}

func newMetrics(s *Service, reg prometheus.Registerer) (*metrics, error) {
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	m := &metrics{
		outcomes: counters("vayu_verify_outcomes_total", "Verifications that reached a final state, by provider.", "world", "provider", "outcome"),
		calls:    counters("vayu_verify_calls_total", "Calls to banks, by call and result.", "provider", "call", "result"),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "vayu_verify_call_seconds", Help: "Duration of calls to banks.",
			Buckets: []float64{.001, .005, .01, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60},
		}, []string{"provider", "call"}),
		contradictions:    counters("vayu_verify_contradictions_total", "Answers of banks that contradict a final state; the final state remains.", "provider"),
		enumerationAlarms: counter("vayu_verify_enumeration_alarms_total", "API keys that requested many accounts that do not exist within an hour."),
		overdue:           counter("vayu_verify_overdue_total", "Deposits that were not sent because their lease was about to expire; an enquiry follows."),
		undecryptable:     counter("vayu_verify_unopened_total", "Pending verifications that cannot be decrypted, because they were encrypted with another key."),
		deleted:           counter("vayu_verify_deleted_total", "Finished verifications that were deleted after their retention time."),
		failures:          counters("vayu_verify_store_failures_total", "Failed reads and writes of the state store, by operation.", "doing"),
	}
	trouble := func(doing, meanwhile string) *failurelog.Log {
		return failurelog.New(s.Log, "verifications: the state store", doing, meanwhile, m.failures.WithLabelValues(doing))
	}
	m.claims = trouble("claim", "due verifications wait")
	m.records = trouble("record", "outcomes are enquired again later")
	m.counts = trouble("count", "gauges stay as they were")
	m.rereads = trouble("reread", "clients waiting here see results of other instances on the next poll")
	m.deletions = trouble("delete", "old verifications are not purged")
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

// called counts a call and its duration.
func (m *metrics) called(l *connection, call, result string, took time.Duration) {
	m.calls.WithLabelValues(l.Name, call, result).Inc()
	m.took.WithLabelValues(l.Name, call).Observe(took.Seconds())
}

// finished counts a verification that has reached a final state.
func (m *metrics) finished(r *Record) {
	m.outcomes.WithLabelValues(r.Owner.World.String(), r.Provider, string(r.State)).Inc()
}

// String returns the name used in metrics and logs.
func (o Outcome) String() string {
	if o < Pending || o > NotMade {
		return "unknown outcome"
	}
	return [...]string{"pending", "found", "not_found", "unknown", "not_made"}[o]
}

// resultOf returns the metric label of a provider result.
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

// count counts the final states that a transition reaches.
func (s *Service) count(out *result) {
	switch out.transition {
	case succeed, fail:
		s.metrics.finished(&out.Record)
		s.missed(&out.Record)
		if out.transition == fail && !reached(&out.Record) {
			s.Log.Warn("verification given up", "verification", out.ID, "provider", out.Provider, "tries", out.Tries, "code", string(out.ErrorCode))
		}
	case noop, retryLater, retryAsNew, requeue, resend:
	}
}
