package verify

import (
	"sync"
	"time"

	"vayu/schema"
)

// missSpan is the time in which the misses of a key are counted.
const missSpan = time.Hour

// misses counts the accounts that do not exist, by the key that asked about them:
// whoever tries numbers one after another finds few. It counts what this instance has
// found out, and tells once a span of a key that has passed the threshold.
type misses struct {
	most int // 0 for no alarm

	mu    sync.Mutex
	since time.Time
	keys  map[string]int
}

func newMisses(most int) *misses { return &misses{most: most, keys: map[string]int{}} }

// add counts a miss; true when it is the one that passes the threshold.
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

// missed counts a verdict that is a miss, and raises the alarm.
func (s *Service) missed(r *Record) {
	if r.State != schema.VerificationFailed || !reached(r) || !s.misses.add(r.Key, s.Now()) {
		return
	}
	s.metrics.enumerationAlarms.Inc()
	s.Log.Error("a key has asked about many accounts that do not exist; it may be trying numbers",
		"key", r.Key, "account", r.Owner.Account, "world", r.Owner.World.String(), "more_than", s.misses.most, "within", missSpan.String())
}
