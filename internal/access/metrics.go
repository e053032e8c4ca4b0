package access

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/schema"
)

type metrics struct {
	refusals        *prometheus.CounterVec
	byCode          map[schema.Code]prometheus.Counter
	refreshFailures prometheus.Counter
}

// refusalCodes are the error codes whose counters exist, with the value 0, before the first such error.
var refusalCodes = []schema.Code{
	schema.Unauthorized, schema.KeyRevoked, schema.KeyExpired, schema.SignatureRequired, schema.SignatureInvalid,
	schema.InsufficientScope, schema.IPNotAllowed, schema.RateLimited, schema.QuotaExceeded,
}

func newMetrics(s *Service, reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	m := &metrics{
		refusals: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_access_refusals_total", Help: "Calls that were rejected before their handler, by error code.",
		}, []string{"code"}),
		byCode: map[schema.Code]prometheus.Counter{},
		refreshFailures: auto.NewCounter(prometheus.CounterOpts{
			Name: "vayu_access_look_failures_total", Help: "Failed refreshes of keys and accounts from the store.",
		}),
	}
	for _, code := range refusalCodes {
		m.byCode[code] = m.refusals.WithLabelValues(string(code))
	}
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_access_keys", Help: "Active API keys in memory.",
	}, func() float64 { return float64(s.cache.byHash.Load().Len()) })
	auto.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "vayu_access_age_seconds", Help: "Time since the last successful refresh of keys and accounts, seconds.",
	}, func() float64 { return s.follower.Age().Seconds() })
	return m
}

// refused counts a rejected call.
func (m *metrics) refused(code schema.Code) {
	if counter := m.byCode[code]; counter != nil {
		counter.Inc()
		return
	}
	m.refusals.WithLabelValues(string(code)).Inc()
}

// refusedBy counts a rejected call by the code of err. It ignores an err that is not a *schema.Problem.
func (m *metrics) refusedBy(err error) {
	if problem, ok := errors.AsType[*schema.Problem](err); ok {
		m.refused(problem.Code)
	}
}
