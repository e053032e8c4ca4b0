package verify

import (
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/pipeline/transaction"
)

type metrics struct {
	*transaction.Metrics

	contradictions    *prometheus.CounterVec
	enumerationAlarms prometheus.Counter
	undecryptable     prometheus.Counter
	deleted           prometheus.Counter
	deletions         *failurelog.Log // failures to delete old verifications
}

func newMetrics(m *transaction.Metrics) *metrics {
	return &metrics{
		Metrics:           m,
		contradictions:    m.Counters("contradictions_total", "Answers of banks that contradict a final state; the final state remains.", "provider"),
		enumerationAlarms: m.Counter("enumeration_alarms_total", "API keys that requested many accounts that do not exist within an hour."),
		undecryptable:     m.Counter("unopened_total", "Pending verifications that cannot be decrypted, because they were encrypted with another key."),
		deleted:           m.Counter("deleted_total", "Finished verifications that were deleted after their retention time."),
		deletions:         m.FailureLog("delete", "old verifications are not purged"),
	}
}

// count counts a transition to a final state, and logs a verification that was given up.
func (s *Service) count(out *result) {
	switch out.transition {
	case succeed, fail:
		s.metrics.Finished(&out.Base, out.Status())
		s.missed(&out.Record)
		if out.transition == fail && !reached(&out.Record) {
			s.Log.Warn("verification given up", "verification", out.ID, "provider", out.Provider, "tries", out.Tries, "code", string(out.ErrorCode))
		}
	case noop, retryLater, retryAsNew, requeue, resend:
	}
}
