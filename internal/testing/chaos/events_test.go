package chaos

import (
	"context"
	"sync"
	"time"
)

// Events commits events of the clients, round robin, each in a separate transaction.
type Events struct {
	Store    *StateStore
	Accounts []Account
	Rate     float64 // events per second

	mu        sync.Mutex
	committed map[string]time.Time // by id: when the commit was acknowledged
}

// maxCommitting limits the commits in flight.
const maxCommitting = 256

// Run commits until ctx ends.
func (e *Events) Run(ctx context.Context) {
	e.mu.Lock()
	e.committed = map[string]time.Time{}
	e.mu.Unlock()
	pace(ctx, e.Rate, maxCommitting, func(n int) {
		id, err := e.Store.fire(context.WithoutCancel(ctx), e.Accounts[n%len(e.Accounts)].ID)
		if err != nil {
			return // the outcome of the commit is unknown
		}
		e.mu.Lock()
		defer e.mu.Unlock()
		e.committed[id] = time.Now()
	}, func(int) {}) // the store is slower than the rate: the event is skipped, and cannot be lost
}

// Between returns the events that were committed from one moment to another.
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
