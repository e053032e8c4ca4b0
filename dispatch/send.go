package dispatch

import (
	"context"
	"time"
)

const (
	// discoverEvery is the interval of queries for due deliveries that this queue does not
	// have. Such deliveries were retried manually, resumed, or left by another instance.
	discoverEvery = time.Second
	// After a slow query, discover pauses for discoverShare times the duration of the query, at most for
	// maxDiscoverEvery. The duration grows with the number of subscriptions.
	discoverShare    = 50
	maxDiscoverEvery = 5 * time.Second
	// claimRetry is the delay after a failed claim, or while outcomes cannot be recorded.
	claimRetry = time.Second
	// releaseTimeout bounds the release of leases at a stop.
	releaseTimeout = 2 * time.Second
	// idleTimer is how long a loop waits if the queue has no next time for the loop. A signal ends the wait earlier.
	idleTimer = time.Hour
)

// send starts attempts until ctx ends, each as soon as a slot is free and the rate limits allow
// it. send never waits for the store.
func (s *Service) send(ctx context.Context) {
	timer := time.NewTimer(idleTimer)
	defer timer.Stop()
	for {
		id, w, ok := s.next()
		if ok {
			s.attempts.Go(func() { s.attemptAll(ctx, id, w) })
			continue
		}
		timer.Reset(s.untilNextStart())
		select {
		case <-s.sendSignal:
		case <-timer.C:
			if s.hasClaim() { // a new token of a host's rate limit may allow a claim
				signal(s.claimSignal)
			}
		case <-ctx.Done():
			return
		}
	}
}

// untilNextStart returns how long rate limits delay the next start; idleTimer if they do not.
func (s *Service) untilNextStart() time.Duration {
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.queue.NextStart(now); !at.IsZero() {
		return max(time.Millisecond, at.Sub(now))
	}
	return idleTimer
}

func (s *Service) next() (id string, w *work, ok bool) {
	if s.stopping.Load() {
		return "", nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.Next(s.Now())
}

// attemptAll makes an attempt, and then further attempts one by one while the queue has any.
func (s *Service) attemptAll(ctx context.Context, id string, w *work) {
	for ok := true; ok; id, w, ok = s.next() {
		s.attempt(ctx, id, w)
	}
}
