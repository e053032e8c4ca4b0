package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// recordBatch is the maximum number of outcomes that one transaction records.
	recordBatch = 128
	// recordBackoff is the delay after the first failed write. With each further failure the
	// delay doubles, up to maxRecordBackoff.
	recordBackoff    = 50 * time.Millisecond
	maxRecordBackoff = 2 * time.Second
	// recordDrain is how long a stopping service still retries to record outcomes.
	recordDrain = 4 * time.Second
)

// recordLoop stores outcomes until the channel of outcomes is closed. While the store rejects writes, recordLoop does
// not receive from the channel. The channel then fills, and no more attempts start.
func (s *Service) recordLoop(ctx context.Context) {
	for first := range s.outcomes {
		batch := s.gather(first)
		s.recordAll(ctx, batch)
		s.afterRecord(batch)
	}
}

// gather returns a batch that has the outcome `first` and the outcomes that already wait in the channel.
func (s *Service) gather(first *delivery.Outcome) []delivery.Outcome {
	batch := []delivery.Outcome{*first}
	for len(batch) < recordBatch {
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

// recordAll retries until it has recorded a batch. If the service stops, it gives up after recordDrain. Then the
// leases of the deliveries in the batch expire, and receivers get the same events again.
func (s *Service) recordAll(ctx context.Context, batch []delivery.Outcome) {
	for failures := 0; ; failures++ {
		var stale int
		err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			stale, err = delivery.Record(tx, batch, s.Now())
			return err
		})
		s.metrics.records.Observe(ctx, err)
		s.recordingStalled.Store(err != nil || s.recordingStalled.Load() && len(s.outcomes) > 0)
		if err == nil {
			s.metrics.stale.Add(float64(stale))
			s.metrics.recorded(batch)
			return
		}
		select {
		case <-s.stopped:
			s.Log.ErrorContext(ctx, "recording attempts failed; the deliveries will be sent again", "attempts", len(batch), "error", err)
			return
		case <-time.After(sleep.Backoff(failures, recordBackoff, maxRecordBackoff)):
		}
	}
}

// afterRecord records in the queue when waiting deliveries are due again, and logs failed deliveries.
func (s *Service) afterRecord(batch []delivery.Outcome) {
	s.logFailed(batch)
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
		signal(s.claimSignal)
	}
}

// logFailed logs the number of failed deliveries, one line for each subscription.
func (s *Service) logFailed(batch []delivery.Outcome) {
	failed := map[string]int{}
	for i := range batch {
		if o := &batch[i]; o.State == schema.DeliveryFailed {
			failed[o.Row.Webhook]++
		}
	}
	for webhook, n := range failed {
		s.Log.Warn("webhooks: deliveries failed after the last attempt", "webhook", webhook, "deliveries", n)
	}
}
