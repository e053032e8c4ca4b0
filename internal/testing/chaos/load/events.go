package load

import (
	"context"
	"sync"
	"time"
)

// Events commits events of clients in turn, each in a transaction of its own.
type Events struct {
	Store    *Store
	Accounts []Account
	Rate     float64 // events per second

	mu        sync.Mutex
	committed map[string]time.Time // by id: when the store had said so
}

// committingMost is how many may be under way at once.
const committingMost = 256

// Run commits until ctx ends.
func (e *Events) Run(ctx context.Context) {
	e.mu.Lock()
	e.committed = map[string]time.Time{}
	e.mu.Unlock()
	pace(ctx, e.Rate, committingMost, func(n int) {
		id, err := e.Store.fire(context.WithoutCancel(ctx), e.Accounts[n%len(e.Accounts)].ID)
		if err != nil {
			return // nobody knows whether it was committed
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.committed[id] = time.Now()
	}, func(int) {}) // the store is slower than that: there is no event, and nothing to lose
}

// Between are the events that were committed from one moment to another.
func (e *Events) Between(from, to time.Time) (ids []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, at := range e.committed {
		if !at.Before(from) && at.Before(to) {
			ids = append(ids, id)
		}
	}
	return ids
}
