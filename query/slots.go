package query

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vayu/schema"
)

const (
	// maxInFlight is how many questions about the past one account may have in flight
	// that memory cannot answer. More of a question that keeps the engine busy would
	// only make the questions of other accounts time out.
	maxInFlight = 4
	// slotTimeout is how long one more waits for another to end.
	slotTimeout = time.Second
)

// slots bounds what each account has in flight. The zero value is ready for use.
type slots struct {
	mu       sync.Mutex
	accounts map[string]*accountSlots
}

type accountSlots struct {
	slot  chan struct{}
	users int // calls that hold a slot or wait for one
}

// acquire waits for a slot of an account. The error is a *schema.Problem when none
// becomes free in slotTimeout.
func (s *slots) acquire(ctx context.Context, account string) (release func(), err error) {
	s.mu.Lock()
	if s.accounts == nil {
		s.accounts = map[string]*accountSlots{}
	}
	a := s.accounts[account]
	if a == nil {
		a = &accountSlots{slot: make(chan struct{}, maxInFlight)}
		s.accounts[account] = a
	}
	a.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if a.users--; a.users == 0 {
			delete(s.accounts, account)
		}
	}
	wait, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	select {
	case a.slot <- struct{}{}:
		return func() { <-a.slot; leave() }, nil
	case <-wait.Done():
		leave()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		refusal := schema.Refuse(schema.RateLimited, "", fmt.Sprintf("The account has %d questions about the past in flight, which is the limit.", maxInFlight))
		refusal.RetryAfter = 1
		return nil, refusal
	}
}
