package wallet

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"

	"vayu/schema"
)

type metrics struct {
	payments *prometheus.CounterVec
	refusals *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) *metrics {
	auto := promauto.With(reg)
	return &metrics{
		payments: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_payments_total", Help: "Payments by outcome: created and undecided (pending), success or failed.",
		}, []string{"world", "outcome"}),
		refusals: auto.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_refusals_total", Help: "Refused payments, of which nothing is recorded, by error code.",
		}, []string{"world", "code"}),
	}
}

func (m *metrics) payment(p *Payment) {
	m.payments.WithLabelValues(p.Owner.World.String(), string(p.State)).Inc()
}

func (m *metrics) refusal(w schema.World, code schema.Code) {
	m.refusals.WithLabelValues(w.String(), string(code)).Inc()
}
