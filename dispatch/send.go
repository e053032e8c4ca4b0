package dispatch

import (
	"context"
	"time"
)

// sendLoop starts attempts until ctx ends. Each attempt starts as soon as a slot is free and the rate limits allow the
// attempt. sendLoop never waits for the store.
func (s *Service) sendLoop(ctx context.Context) {
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
			if s.hasClaim() { // a host may have a new token, which allows a claim
				signal(s.claimSignal)
			}
		case <-ctx.Done():
			return
		}
	}
}

// untilNextStart returns how long rate limits delay the next attempt; idleTimer if no rate limit delays one.
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

// attemptAll makes the attempt of w. Then it makes further attempts, one after the other, until the queue has none
// that may start.
func (s *Service) attemptAll(ctx context.Context, id string, w *work) {
	for ok := true; ok; id, w, ok = s.next() {
		s.attempt(ctx, id, w)
	}
}
