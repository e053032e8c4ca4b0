package scheduler

import (
	"time"
)

// host has the counts and limits that all lanes (queues of endpoints) with one host and port
// share. The methods addBuffered and addInFlight do nothing on nil.
type host[T any] struct {
	name        string
	lanes       int
	inFlight    [classes]int
	buffered    int           // items that wait in memory, and reserved items
	took        time.Duration // moving average of the duration of an attempt
	provenUntil time.Time
	tokens      tokenBucket      // limits attempts while the host is not proven
	parked      [classes]ring[T] // lanes that could send if the host had a slot and a token
	roomWaiters ring[T]          // lanes that could claim if the host had room
	index       int              // index in tokenWaiters; -1 for none
	tokenAt     time.Time        // when to check the host for a token; set while index is not -1
}

func (h *host[T]) at() time.Time  { return h.tokenAt }
func (h *host[T]) position() *int { return &h.index }

// pruneHosts removes hosts without lanes, once their token bucket is full. With an earlier
// removal, a client could refill the bucket by recreating its webhook.
func (q *Queue[T]) pruneHosts() {
	for name, h := range q.hosts {
		h.tokens.allows(q.clock)
		if h.lanes == 0 && h.index < 0 && h.tokens.tokens >= h.tokens.burst {
			delete(q.hosts, name)
		}
	}
}
