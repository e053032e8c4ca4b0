package dispatch

import (
	"context"
	"fmt"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
)

const (
	// discoverEvery is how often the store is asked which subscriptions have
	// something waiting that this instance does not know of: what was retried by
	// hand, resumed or left behind by another. It takes a step per subscription, so
	// the pause grows with what it takes.
	discoverEvery = time.Second
	discoverShare = 50
	discoverMost  = 5 * time.Second
	// claimPause is how long a lane waits whose claim could not be made.
	claimPause = time.Second
	// giveBackMost is how long a stopping service tries to give back what it holds.
	giveBackMost = 2 * time.Second
	// longWait is for a timer that something else will end.
	longWait = time.Hour
)

// send begins as many attempts as there is room for, until ctx ends. It never
// waits for the store.
func (s *Service) send(ctx context.Context) {
	timer := time.NewTimer(longWait)
	defer timer.Stop()
	for {
		id, w, ok := s.next()
		if ok {
			s.attempts.Go(func() { s.attemptAll(ctx, id, w) })
			continue
		}
		timer.Reset(s.untilPaced())
		select {
		case <-s.ready:
		case <-timer.C:
			if s.wantsClaim() { // a host may get another attempt
				nudge(s.hungry)
			}
		case <-ctx.Done():
			return
		}
	}
}

// untilPaced is how long the pace of starts is in the way.
func (s *Service) untilPaced() time.Duration {
	now := s.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.queue.Paced(now); !at.IsZero() {
		return max(time.Millisecond, at.Sub(now))
	}
	return longWait
}

// fetch brings what is due into memory, and what cannot be sent back, until ctx
// ends.
func (s *Service) fetch(ctx context.Context) {
	timer := time.NewTimer(longWait)
	defer timer.Stop()
	for ctx.Err() == nil {
		s.release(ctx)
		if s.claim(ctx) {
			nudge(s.ready)
			continue
		}
		timer.Reset(s.untilNext())
		select {
		case <-s.hungry:
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

func (s *Service) next() (id string, w *work, ok bool) {
	if s.stopping.Load() {
		return "", nil, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.queue.Next(s.Now())
}

// claim asks the store for what lanes have room for, and reports whether there
// was anything to ask. While outcomes wait to be recorded nothing is: their leases
// may be over, and they must be there before their deliveries are due again.
func (s *Service) claim(ctx context.Context) bool {
	if s.behind.Load() {
		return false
	}
	now := s.Now()
	s.mu.Lock()
	claims := s.queue.Claims(now)
	s.mu.Unlock()
	if len(claims) == 0 {
		return false
	}
	taken := s.newLease(now)
	var wants []delivery.Want
	found := make(map[string]delivery.Claimed, len(claims))
	for _, c := range claims {
		if _, ok := s.recipientNow(c.Lane); ok {
			wants = append(wants, delivery.Want{Webhook: c.Lane, Most: c.Most})
			found[c.Lane] = delivery.Claimed{Next: now.Add(claimPause)}
		}
	}
	if len(wants) > 0 {
		s.claimWanted(ctx, wants, found, taken, now)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		got := found[c.Lane]
		items := make([]*work, len(got.Rows))
		for i := range got.Rows {
			items[i] = &work{got.Rows[i], taken.Token}
			if got.Rows[i].Attempts > 0 {
				s.queue.Suspect(c.Lane)
			}
		}
		s.queue.Claimed(c, items, taken.Until, got.Next)
	}
	return true
}

// claimWanted fills in what was found.
func (s *Service) claimWanted(ctx context.Context, wants []delivery.Want, found map[string]delivery.Claimed, taken delivery.Lease, now time.Time) {
	var all []delivery.Claimed
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		all, err = delivery.Claim(tx, wants, taken, now)
		return err
	})
	s.metrics.claims.Tell(ctx, err)
	if err != nil {
		return
	}
	for _, c := range all {
		found[c.Webhook] = c
	}
}

// release gives back what was leased and cannot be sent in time.
func (s *Service) release(ctx context.Context) {
	s.mu.Lock()
	expired := s.queue.Expired()
	s.mu.Unlock()
	if len(expired) > 0 {
		s.metrics.released.Add(float64(len(expired)))
		s.metrics.claims.Tell(ctx, s.giveUp(ctx, expired))
	}
}

// giveUp makes works due again as they were. Those that cannot be given back are
// due when their leases end.
func (s *Service) giveUp(ctx context.Context, works []*work) error {
	byToken := map[string][]delivery.Row{}
	for _, w := range works {
		byToken[w.token] = append(byToken[w.token], w.Row)
	}
	err := s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		for token, rows := range byToken {
			if err := delivery.Release(tx, token, rows); err != nil {
				return err
			}
		}
		return nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range works {
		if err == nil {
			s.queue.Due(w.Webhook, w.DueAt)
		}
	}
	if err != nil {
		return fmt.Errorf("giving back deliveries: %w", err)
	}
	return nil
}

// giveBack is giveUp for everything in memory, when the service stops.
func (s *Service) giveBack(ctx context.Context) error {
	s.mu.Lock()
	rest := s.queue.Drain()
	s.mu.Unlock()
	if len(rest) == 0 {
		return nil
	}
	limit, done := context.WithTimeout(ctx, giveBackMost)
	defer done()
	return s.giveUp(limit, rest)
}

// untilNext is how long there is nothing to claim.
func (s *Service) untilNext() time.Duration {
	if s.behind.Load() {
		return claimPause
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if at := s.queue.Wake(); !at.IsZero() {
		return max(0, at.Sub(s.Now()))
	}
	return longWait
}

// discover finds lanes in the store until ctx ends.
func (s *Service) discover(ctx context.Context) {
	for ctx.Err() == nil {
		began := s.Now()
		lanes, err := delivery.Lanes(s.DB.View(ctx))
		s.metrics.looks.Tell(ctx, err)
		took := s.Now().Sub(began)
		s.mu.Lock()
		s.queue.Keep(func(id string) bool { sub := s.Subscriptions.Get(id); return sub != nil && !sub.Deleted })
		for _, l := range lanes {
			if _, ok := s.recipientNow(l.Webhook); ok {
				s.queue.Due(l.Webhook, l.Next)
			}
		}
		s.mu.Unlock()
		nudge(s.hungry)
		select {
		case <-time.After(min(discoverMost, max(discoverEvery, discoverShare*took))):
		case <-ctx.Done():
		}
	}
}
