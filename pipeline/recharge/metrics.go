package recharge

import (
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
)

type metrics struct {
	*transaction.Metrics

	alarms      *prometheus.CounterVec
	redirect    prometheus.Counter
	masked      prometheus.Counter
	plansFailed *prometheus.CounterVec
	masks       *failurelog.Log // failures to mask numbers
}

func newMetrics(m *transaction.Metrics) *metrics {
	m.GaugeOld("pending_old", "Recharges that have been pending for more than 24 hours, as of the last count.")
	out := &metrics{
		Metrics:     m,
		alarms:      m.Counters("alarms_total", "Providers that have contradicted a final state: late_success for one that had failed, late_failure for one that was charged.", "kind"),
		redirect:    m.Counter("redetections_total", "Recharges redirected to another operator, because the number does not belong to the first."),
		masked:      m.Counter("masked_total", "Recharges whose number was masked because they were settled long enough ago."),
		plansFailed: m.Counters("plans_failed_total", "Failed requests for plans to a provider.", "provider"),
		masks:       m.FailureLog("mask", "numbers of old recharges are not masked"),
	}
	for _, kind := range [...]string{settle.AlarmLateSuccess, settle.AlarmLateFailure} { // so that rate() includes the first alarm
		out.alarms.WithLabelValues(kind)
	}
	return out
}

// observeResult counts and logs the effect of a provider result.
func (s *Service) observeResult(out *settle.Effect, res *settle.Result) {
	r := &out.Record
	switch out.Transition {
	case settle.Succeed, settle.Fail, settle.Refund:
		s.metrics.Finished(&r.Base, r.Status())
	case settle.Redirect:
		s.metrics.redirect.Inc()
		s.Log.Info("a recharge was redirected to another operator", "transaction", r.ID, "operator", r.Operator, "provider", r.Provider)
	case settle.RefuseRefund:
		s.Log.Warn("a provider refused a refund", "transaction", r.ID, "provider", r.Provider)
	case settle.LateSuccess, settle.LateFailure:
		s.metrics.alarms.WithLabelValues(settle.AlarmOf(out.Transition)).Inc()
		s.Log.Error("a provider contradicts a final state; the state is unchanged and needs an investigation",
			"alarm", settle.AlarmOf(out.Transition), "transaction", r.ID, "state", string(r.State), "said", res.Outcome.String(), "provider", r.Provider, "reference", res.Reference, "by", res.By)
	}
}
