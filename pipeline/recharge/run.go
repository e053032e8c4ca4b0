package recharge

import (
	"context"

	"vayu/schema"
)

// Run makes the calls that are due and masks the numbers of old recharges until ctx ends.
// Then it waits for the calls in flight.
func (s *Service) Run(ctx context.Context) error {
	if err := s.DB.Ready(ctx); err != nil {
		return nil //nolint:nilerr // ctx ended before the store was ready
	}
	_ = s.warnStranded(ctx) // a failure log has the error
	s.RunWith(ctx, s.maskLoop)
	return nil
}

// warnStranded logs the providers that have pending recharges, but are no longer
// configured.
func (s *Service) warnStranded(ctx context.Context) error {
	return s.EachPending(ctx, func(world schema.World, provider string, pending int64) error {
		if s.connectionOf(world, provider) == nil {
			s.Log.WarnContext(ctx, "recharges are pending with a provider that is not configured; they stay so until it is again",
				"provider", provider, "world", world.String(), "pending", pending)
		}
		return nil
	})
}
