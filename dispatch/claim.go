package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
)

const (
	// claimRetry is the delay before the next claim if a claim has failed or if outcomes cannot be recorded.
	claimRetry = time.Second
	// idleTimer is how long a loop sleeps if nothing is scheduled for the loop. A signal ends the sleep earlier.
	idleTimer = time.Hour
)

// claimLoop claims due deliveries until ctx ends. It also releases the lease of each buffered delivery if the lease
// ends too soon for an attempt.
func (s *Service) claimLoop(ctx context.Context) {
	timer := time.NewTimer(idleTimer)
	defer timer.Stop()
	for ctx.Err() == nil {
		s.releaseExpired(ctx)
		if s.claim(ctx) {
			signal(s.sendSignal)
			continue
		}
		timer.Reset(s.untilNextClaim())
		select {
		case <-s.claimSignal:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// claim claims deliveries for lanes (one per endpoint) with room in memory, and reports whether a lane needed
// deliveries. While the store cannot record outcomes, it claims nothing. An attempted delivery whose outcome is not
// recorded may have lost its lease, so a claim could send that delivery again.
func (s *Service) claim(ctx context.Context) bool {
	if s.recordingStalled.Load() {
		return false
	}
	now := s.Now()
	s.mu.Lock()
	claims := s.queue.Claims(now)
	s.mu.Unlock()
	if len(claims) == 0 {
		return false
	}
	grant := s.newLease(now)
	var wants []delivery.LaneClaim
	found := make(map[string]delivery.Claimed, len(claims))
	for _, c := range claims {
		if _, ok := s.cachedRecipient(c.Lane); ok {
			wants = append(wants, delivery.LaneClaim{Webhook: c.Lane, Limit: c.Limit})
			found[c.Lane] = delivery.Claimed{Next: now.Add(claimRetry)}
		}
	}
	if len(wants) > 0 {
		s.claimWanted(ctx, wants, found, grant, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		got := found[c.Lane]
		items := make([]*work, len(got.Rows))
		for i := range got.Rows {
			items[i] = &work{got.Rows[i], grant.Token}
			if got.Rows[i].Attempts > 0 {
				s.queue.MarkSlow(c.Lane)
			}
		}
		s.queue.Claimed(c, items, grant.Until, got.Next)
	}
	return true
}

// claimWanted makes the claims `wants` in one transaction. It stores their results in `found`, by subscription id.
func (s *Service) claimWanted(ctx context.Context, wants []delivery.LaneClaim, found map[string]delivery.Claimed, grant workqueue.Lease, now time.Time) {
	var all []delivery.Claimed
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		all, err = delivery.Claim(tx, wants, grant, now)
		return err
	})
	s.metrics.claims.Observe(ctx, err)
	if err != nil {
		return
	}
	for _, c := range all {
		found[c.Webhook] = c
	}
}

// untilNextClaim returns how long claimLoop sleeps before it claims deliveries again.
func (s *Service) untilNextClaim() time.Duration {
	if s.recordingStalled.Load() {
		return claimRetry
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.queue.NextClaim(); !at.IsZero() {
		return max(0, at.Sub(s.Now()))
	}
	return idleTimer
}

// hasClaim reports whether claimLoop has deliveries to claim or to release now.
func (s *Service) hasClaim() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.queue.HasExpired() {
		return true
	}
	at := s.queue.NextClaim()
	return !at.IsZero() && !at.After(s.Now())
}
