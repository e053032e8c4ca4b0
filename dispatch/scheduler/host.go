package scheduler

import (
	"time"
)

// host has the limits that all lanes (queues of endpoints) with one host and port share.
// addBuffered and addInFlight do nothing on nil.
type host[T any] struct {
	name        string
	lanes       int
	inFlight    [classes]int
	buffered    int           // items in memory or reserved, and not in flight
	took        time.Duration // moving average of the duration of an attempt
	provenUntil time.Time
	tokens      tokenBucket      // limits attempts while the host is not proven
	parked      [classes]ring[T] // lanes that could send if the host had a slot
	roomWaiters ring[T]          // lanes that could claim if the host had room
	index       int              // index in tokenWaiters; -1 for none
	tokenAt     time.Time        // when the host will have a token
}

func (h *host[T]) at() time.Time  { return h.tokenAt }
func (h *host[T]) position() *int { return &h.index }

// pruneHosts removes hosts without lanes, once their token bucket is full. If it removed
// them earlier, a client could refill the bucket by recreating its webhook.
func (q *Queue[T]) pruneHosts() {
	for name, h := range q.hosts {
		h.tokens.allows(q.clock)
		if h.lanes == 0 && h.index < 0 && h.tokens.tokens >= h.tokens.burst {
			delete(q.hosts, name)
		}
	}
}
