package push

import (
	"context"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"vayu/schema"
)

// Limits of concurrent requests whose readings are decoded or stored. A request of 10 MiB needs about 60 MB of memory
// while it is decoded.
const (
	slotsTotal      = 16
	slotsPerAccount = 8 // a client with 8 connections needs no retries
	// slotTimeout is the longest time that a request waits for a slot.
	slotTimeout = 5 * time.Second
)

// slots limit the requests in flight, in total and for each account.
type slots struct {
	total *semaphore.Weighted
	mu    *sync.Mutex
	used  map[string]int // number of used slots, by account
}

func newSlots() slots {
	return slots{total: semaphore.NewWeighted(slotsTotal), mu: new(sync.Mutex), used: make(map[string]int)}
}

// acquire waits for a slot for a request of an account. The caller must call `release`. The error is or wraps a
// *schema.Problem: the account uses all its slots, or no slot becomes free within slotTimeout, or ctx ends.
func (s slots) acquire(ctx context.Context, account string) (release func(), err error) {
	s.mu.Lock()
	full := s.used[account] == slotsPerAccount
	if !full {
		s.used[account]++
	}
	s.mu.Unlock()
	if full {
		p := schema.NewProblem(schema.RateLimited, "", fmt.Sprintf("The account has %d pushes in flight. Send the next one when one of them has ended.", slotsPerAccount))
		p.RetryAfter = 1
		return nil, p
	}
	free := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.used[account]--; s.used[account] == 0 {
			delete(s.used, account)
		}
	}
	limited, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	if err := s.total.Acquire(limited, 1); err != nil {
		free()
		return nil, schema.Unavailable("Too many pushes are in flight. Send the same request again.", err)
	}
	return func() {
		s.total.Release(1)
		free()
	}, nil
}
