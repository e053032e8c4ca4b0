package dispatch

import (
	"context"
	"time"
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
