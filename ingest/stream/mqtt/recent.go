package mqtt

import (
	"hash/maphash"
	"sync"
	"time"
)

const (
	// doubtful is an age: when a connection is lost, a younger acknowledgement may not have reached the broker.
	doubtful = 10 * time.Second
	// mostRecent is the largest number of recorded messages. When it is reached, the older half is dropped. The
	// remaining inFlight messages are sufficient, because the broker cannot repeat more.
	mostRecent = 2 * inFlight
)

// recent records the stored messages whose acknowledgement may not have reached the broker. After a reconnect the
// broker delivers these messages again. If a message has no time of its own, storing it again would create a second
// reading. recent is safe for concurrent use.
type recent struct {
	seed maphash.Seed

	mu      sync.Mutex
	current int            // number of the current connection
	acked   []acked        // messages of the current connection, the oldest first
	before  map[uint64]int // how often each message of lost connections was stored, by hash
}

// acked is an acknowledged message.
type acked struct {
	hash uint64
	at   time.Time
}

func newRecent() *recent { return &recent{seed: maphash.MakeSeed(), before: make(map[uint64]int)} }

func (r *recent) hash(m *message) uint64 {
	var h maphash.Hash
	h.SetSeed(r.seed)
	_, _ = h.WriteString(m.Topic)
	_ = h.WriteByte(0)
	_, _ = h.Write(m.Payload)
	return h.Sum64()
}

// accept reports whether a message must be processed. It returns false if the broker marks the message as repeated,
// and the message was stored during an earlier connection. The queue may still have messages of an earlier connection.
// They count as stored, because the worker processes them before their repetitions.
func (r *recent) accept(m *message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.hash(m)
	switch {
	case m.connection < r.current:
		r.before[h]++
	case m.duplicate && r.before[h] > 0:
		r.before[h]--
		return false
	}
	return true
}

// add records an acknowledged message of the current connection. It ignores messages of earlier connections.
func (r *recent) add(m *message, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m.connection < r.current {
		return
	}
	if len(r.acked) == mostRecent {
		r.acked = append(r.acked[:0], r.acked[mostRecent/2:]...)
	}
	r.acked = append(r.acked, acked{r.hash(m), now})
}

// lost records a lost connection. The broker may repeat messages acknowledged less than `doubtful` before the loss.
func (r *recent) lost(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current++
	if len(r.before) > mostRecent { // no message was repeated for a long time
		clear(r.before)
	}
	for _, a := range r.acked {
		if now.Sub(a.at) < doubtful {
			r.before[a.hash]++
		}
	}
	r.acked = nil
}
