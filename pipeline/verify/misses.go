package verify

import (
	"sync"
	"time"

	"vayu/schema"
)

// missSpan is the window in which requests for missing accounts are counted.
const missSpan = time.Hour

// misses counts requests for missing accounts per API key, to detect enumeration of account
// numbers. It covers this instance only, and reports each key once per window.
type misses struct {
	most int // threshold; 0 for no alarm

	mu    sync.Mutex
	since time.Time
	keys  map[string]int
}

func newMisses(most int) *misses { return &misses{most: most, keys: map[string]int{}} }

// add counts a miss and reports whether it is the key's first above the threshold in this window.
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

// missed counts r if its account is missing. The first one above the threshold raises an alarm.
func (s *Service) missed(r *Record) {
	if r.State != schema.VerificationFailed || !reached(r) || !s.misses.add(r.Key, s.Now()) {
		return
	}
	s.metrics.enumerationAlarms.Inc()
	s.Log.Error("an API key requested many accounts that do not exist; it may be guessing numbers",
		"key", r.Key, "account", r.Owner.Account, "world", r.Owner.World.String(), "more_than", s.misses.most, "within", missSpan.String())
}
