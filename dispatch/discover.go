package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
)

const (
	// discoverEvery is the interval of queries for due deliveries that this queue does not
	// have. Such deliveries were retried manually, resumed, or left by another instance.
	discoverEvery = time.Second
	// After a slow query, discover pauses for discoverShare times the duration of the query, at most for
	// maxDiscoverEvery. The duration grows with the number of subscriptions.
	discoverShare    = 50
	maxDiscoverEvery = 5 * time.Second
)

// discover reads from the store which lanes (queues of endpoints) have waiting deliveries, and when
// they are due, until ctx ends. It also removes the unused lanes of deleted subscriptions.
func (s *Service) discover(ctx context.Context) {
	for ctx.Err() == nil {
		began := s.Now()
		lanes, err := delivery.Lanes(s.DB.View(ctx))
		s.metrics.discoveries.Observe(ctx, err)
		took := s.Now().Sub(began)
		s.mu.Lock()
		s.queue.Prune(func(id string) bool { return s.Subscriptions.Get(id) != nil })
		for _, l := range lanes {
			if _, ok := s.cachedRecipient(l.Webhook); ok {
				s.queue.Due(l.Webhook, l.Next)
			}
		}
		s.mu.Unlock()
		signal(s.claimSignal)
		select {
		case <-time.After(min(maxDiscoverEvery, max(discoverEvery, discoverShare*took))):
		case <-ctx.Done():
		}
	}
}
