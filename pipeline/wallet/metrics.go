package wallet

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

type metrics struct {
	payments *prometheus.CounterVec
	refusals *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_payments_total", Help: "Payments by outcome: created and undecided (pending), success or failed.",
		}, []string{"world", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_refusals_total", Help: "Refused payments, of which nothing is recorded, by error code.",
		}, []string{"world", "code"}),
	}
	if reg == nil {
		return m, nil
	}
	for _, c := range []prometheus.Collector{m.payments, m.refusals} {
		if err := reg.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics of wallets: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) payment(p *Payment) {
	m.payments.WithLabelValues(p.Owner.World.String(), string(p.State)).Inc()
}

func (m *metrics) refusal(w schema.World, code schema.Code) {
	m.refusals.WithLabelValues(w.String(), string(code)).Inc()
}
