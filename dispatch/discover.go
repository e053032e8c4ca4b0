package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
)

const (
	// discoverEvery is how often this instance queries the store for due deliveries that its queue lacks. Such
	// deliveries appear, for example, when another instance has crashed, or when a client has resumed a webhook.
	discoverEvery = time.Second
	// The duration of a query grows with the number of subscriptions. discoverLoop sleeps for discoverShare times the
	// duration, but at least for discoverEvery and at most for maxDiscoverEvery.
	discoverShare    = 50
	maxDiscoverEvery = 5 * time.Second
)

// discoverLoop regularly reads from the store which lanes have waiting deliveries, and when these are due, until ctx
// ends. It also removes the unused lanes of deleted subscriptions.
func (s *Service) discoverLoop(ctx context.Context) {
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
