package recharge

import (
	"context"
	"sync"
	"time"
)

// countInterval is the interval between two counts of pending recharges.
const countInterval = time.Minute

// Run makes the calls that are due and masks the numbers of old recharges until ctx ends.
// Then it waits for the calls in flight. Calls whose results are not recorded by then keep
// their leases, and are followed by an enquiry later.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // it ended before there was anything to do
	}
	s.metrics.counts.Observe(ctx, s.warnStranded(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { s.countPendingLoop(ctx) })
	loops.Go(func() { s.maskLoop(ctx) })
	s.queue.Run(ctx)
	loops.Wait()
	return nil
}

// RunWithoutPolling replaces Run on an instance that makes only the calls of its own
// requests. Other instances poll for the rest.
func (s *Service) RunWithoutPolling(ctx context.Context) error {
	s.queue.RunWithoutPolling(ctx)
	return nil
}
