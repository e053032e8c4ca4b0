package access

import (
	"errors"
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// metrics is what the service counts.
type metrics struct {
	refusals      *prometheus.CounterVec
	byCode        map[schema.Code]prometheus.Counter
	lookFailures  prometheus.Counter
	flushFailures prometheus.Counter
	dropped       prometheus.Counter
}

// refusalCodes are the codes with which Admit and Verify refuse.
var refusalCodes = []schema.Code{
	schema.Unauthorized, schema.KeyRevoked, schema.KeyExpired, schema.SignatureRequired, schema.SignatureInvalid,
	schema.InsufficientScope, schema.IPNotAllowed, schema.RateLimited, schema.QuotaExceeded,
}

func newMetrics(s *Service, reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_access_refusals_total", Help: "Calls that were refused before their handler, by code.",
		}, []string{"code"}),
		byCode: map[schema.Code]prometheus.Counter{},
		lookFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_access_look_failures_total", Help: "Looks for changed keys and accounts that failed.",
		}),
		flushFailures: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_flush_failures_total", Help: "Writings of usage that failed and were tried again.",
		}),
		dropped: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "vayu_usage_dropped_total", Help: "Days of usage and uses of keys that were dropped, because their account or key is not in the store any more.",
		}),
	}
	for _, code := range refusalCodes {
		m.byCode[code] = m.refusals.WithLabelValues(string(code))
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{
		m.refusals, m.lookFailures, m.flushFailures, m.dropped,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_access_keys", Help: "API keys in memory, which are those that are active.",
		}, func() float64 { return float64(s.book.size.Load()) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_access_age_seconds", Help: "Time since keys and accounts were last compared with the store, seconds.",
		}, func() float64 { return s.age().Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "vayu_usage_unwritten_calls", Help: "Calls that were counted and are not in the store yet.",
		}, func() float64 { return float64(s.ledger.unwritten()) }),
	} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of access: %w", err)
		}
	}
	return m, nil
}

// refused counts a refusal.
func (m *metrics) refused(code schema.Code) {
	if counter := m.byCode[code]; counter != nil {
		counter.Inc()
		return
	}
	m.refusals.WithLabelValues(string(code)).Inc()
}

// refusedBy counts a refusal by the code of its error.
func (m *metrics) refusedBy(err error) {
	if said, ok := errors.AsType[*schema.Problem](err); ok {
		m.refused(said.Code)
	}
}
