package dispatch

import (
	"context"
	"fmt"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
)

// releaseTimeout bounds the time for releasing leases when the service stops.
const releaseTimeout = 2 * time.Second

// releaseExpired releases the buffered deliveries whose leases end too soon for an attempt.
func (s *Service) releaseExpired(ctx context.Context) {
	s.mu.Lock()
	expired := s.queue.Expired()
	s.mu.Unlock()
	if len(expired) > 0 {
		s.metrics.released.Add(float64(len(expired)))
		s.metrics.claims.Observe(ctx, s.releaseAll(ctx, expired))
	}
}

// releaseAll releases the leases of deliveries, so that the deliveries are due again. If it fails, they are due again
// when the leases expire.
func (s *Service) releaseAll(ctx context.Context, works []*work) error {
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
		return fmt.Errorf("releasing leases of deliveries: %w", err)
	}
	return nil
}

// releaseBuffered releases the leases of all deliveries in memory when the service stops.
func (s *Service) releaseBuffered(ctx context.Context) error {
	s.mu.Lock()
	rest := s.queue.Drain()
	s.mu.Unlock()
	if len(rest) == 0 {
		return nil
	}
	limit, done := context.WithTimeout(ctx, releaseTimeout)
	defer done()
	return s.releaseAll(limit, rest)
}
