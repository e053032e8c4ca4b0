package recharge

import (
	"context"
	"sync"
	"time"
)

// countEvery is the time between two counts of what is pending.
const countEvery = time.Minute

// Run sends what is due, enquires about what is pending, and asks for refunds that
// were wanted, and masks the numbers of old recharges, until ctx ends; then it waits for the calls that are under way. What
// is not recorded by then is leased in the store, and asked about later.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // it ended before there was anything to do
	}
	s.metrics.counts.Tell(ctx, s.warnOfStranded(ctx))
	var loops sync.WaitGroup
	loops.Go(func() { s.watchPending(ctx) })
	loops.Go(func() { s.maskOld(ctx) })
	s.calls.Run(ctx)
	loops.Wait()
	return nil
}

// Attend is Run for an instance that takes requests and leaves what becomes due later
// to the others: it makes the calls that its own requests begin.
func (s *Service) Attend(ctx context.Context) error {
	s.calls.Attend(ctx)
	return nil
}
