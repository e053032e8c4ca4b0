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
