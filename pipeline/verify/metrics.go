package verify

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/failurelog"
	"vayu/pipeline/transaction"
	"vayu/schema"
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

// missSpan is the length of the window in which misses counts requests.
const missSpan = time.Hour

// misses counts, by API key, requests for accounts that do not exist, to detect enumeration of account numbers. It
// covers this instance only, and reports each key once per window.
type misses struct {
	most int // threshold; 0 for no alarm

	mu    sync.Mutex
	since time.Time
	keys  map[string]int
}

func newMisses(most int) *misses { return &misses{most: most, keys: map[string]int{}} }

// add counts a request for an account that does not exist. It returns true if the request is the key's first above the
// threshold in this window.
func (m *misses) add(key string, now time.Time) bool {
	if m.most == 0 || key == "" {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if now.Sub(m.since) >= missSpan {
		m.since = now
		clear(m.keys)
	}
	m.keys[key]++
	return m.keys[key] == m.most+1
}

// missed counts a failed verification whose account does not exist. The first one above the threshold raises an alarm.
func (s *Service) missed(r *Record) {
	if r.State != schema.VerificationFailed || !reached(r) || !s.misses.add(r.Key, s.Now()) {
		return
	}
	s.metrics.enumerationAlarms.Inc()
	s.Log.Error("an API key requested many accounts that do not exist; it may be guessing numbers",
		"key", r.Key, "account", r.Owner.Account, "world", r.Owner.World.String(), "more_than", s.misses.most, "within", missSpan.String())
}
