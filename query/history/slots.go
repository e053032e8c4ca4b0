package history

import (
	"context"
	"fmt"
	"sync"
	"time"

	"vayu/schema"
)

const (
	// maxInFlight is the largest number of concurrent history queries in ClickHouse for each account. With a higher
	// limit, one account could make the queries of other accounts time out.
	maxInFlight = 4
	// slotTimeout is the longest time that a query waits for a slot.
	slotTimeout = time.Second
)

// Slots limits how many history queries each account has in flight. The zero value
// is ready to use.
type Slots struct {
	mu       sync.Mutex
	accounts map[string]*accountSlots
}

type accountSlots struct {
	slot  chan struct{}
	users int // number of calls that hold a slot or wait for one
}

// Acquire waits for a slot of an account. The caller must call release. If no slot
// becomes free within slotTimeout, the error is a *schema.Problem.
func (s *Slots) Acquire(ctx context.Context, account string) (release func(), err error) {
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
		refusal := schema.NewProblem(schema.RateLimited, "", fmt.Sprintf("The account has %d history queries in flight, which is the limit.", maxInFlight))
		refusal.RetryAfter = 1
		return nil, refusal
	}
}
