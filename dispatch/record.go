package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// recordMost attempts are recorded in one transaction.
	recordMost = 128
	// recordPause is how long a store that cannot write is left alone; it doubles
	// up to recordPauseMost.
	recordPause     = 50 * time.Millisecond
	recordPauseMost = 2 * time.Second
	// recordLast is how long a service that has stopped sending tries to record what
	// it has sent.
	recordLast = 4 * time.Second
)

// record stores what became of attempts, until there are no more to come. This is
// the one place that acts on an outcome. While the store cannot write, outcomes
// wait here, the channel fills, and then nothing more is sent.
func (s *Service) record(ctx context.Context) {
	for first := range s.outcomes {
		batch := s.gather(first)
		s.recordAll(ctx, batch)
		s.follow(batch)
	}
}

// gather is first and what is there behind it.
func (s *Service) gather(first *delivery.Outcome) []delivery.Outcome {
	batch := []delivery.Outcome{*first}
	for len(batch) < recordMost {
		select {
		case next, ok := <-s.outcomes:
			if !ok {
				return batch
			}
			batch = append(batch, *next)
		default:
			return batch
		}
	}
	return batch
}

// recordAll tries until the batch is recorded, or the service has stopped for
// too long: then the leases end, and receivers see an event twice.
func (s *Service) recordAll(ctx context.Context, batch []delivery.Outcome) {
	pause := recordPause
	for {
		var stale int
		err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			stale, err = delivery.Record(tx, batch, s.Now())
			return err
		})
		s.metrics.records.Tell(ctx, err)
		s.behind.Store(err != nil || s.behind.Load() && len(s.outcomes) > 0)
		if err == nil {
			s.metrics.stale.Add(float64(stale))
			s.metrics.recorded(batch)
			return
		}
		select {
		case <-s.stopped:
			s.Log.ErrorContext(ctx, "attempts could not be recorded; their receivers will get them again", "attempts", len(batch), "error", err)
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, recordPauseMost)
	}
}

// follow lets the lanes know of attempts to come, and the operator of
// deliveries that were given up.
func (s *Service) follow(batch []delivery.Outcome) {
	s.tellFailed(batch)
	retries := false
	s.mu.Lock()
	for i := range batch {
		if o := &batch[i]; o.State == schema.DeliveryWaiting {
			s.queue.Due(o.Row.Webhook, o.DueAt)
			retries = true
		}
	}
	s.mu.Unlock()
	if retries {
		nudge(s.hungry)
	}
}

// tellFailed says which subscriptions have deliveries that failed for good: one
// line for each, however many they are.
func (s *Service) tellFailed(batch []delivery.Outcome) {
	failed := map[string]int{}
	for i := range batch {
		if o := &batch[i]; o.State == schema.DeliveryFailed {
			failed[o.Row.Webhook]++
		}
	}
	for webhook, n := range failed {
		s.Log.Warn("webhooks: deliveries failed for good, after their last attempt", "webhook", webhook, "deliveries", n)
	}
}
