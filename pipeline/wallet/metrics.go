package wallet

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/schema"
)

// metrics is what the service counts.
type metrics struct {
	payments *prometheus.CounterVec
	refusals *prometheus.CounterVec
}

func newMetrics(reg prometheus.Registerer) (*metrics, error) {
	m := &metrics{
		payments: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_payments_total", Help: "Payments that were begun and not decided (pending), went through (success) or failed.",
		}, []string{"world", "outcome"}),
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "vayu_wallet_refusals_total", Help: "Payments that were refused, after which nothing is recorded, by the code of the error.",
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
