package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math"

	"vayu/dispatch/outbox"
)

// errUnknownEvent rejects an event from Kafka that the state store lacks. The row of a delivery
// refers to the row of its event, so such an event can have no delivery.
var errUnknownEvent = errors.New("the event is not in the state store")

// AcceptIDs stores the deliveries of events from Kafka, given by their ids. It accepts the events that the state store
// has, and returns the other ids with the reason. The store lacks events after a restore from a backup, or if several
// installations share a Kafka topic. If err is nil, all deliveries are stored. AcceptIDs is idempotent.
func (s *Service) AcceptIDs(ctx context.Context, ids []string) (rejected map[string]error, err error) {
	events, err := outbox.ByIDs(s.DB.View(ctx), ids)
	if err != nil {
		return nil, fmt.Errorf("reading events: %w", err)
	}
	known := make(map[string]bool, len(events))
	for _, e := range events {
		known[e.ID] = true
	}
	for _, id := range ids {
		if !known[id] {
			if rejected == nil {
				rejected = map[string]error{}
			}
			rejected[id] = errUnknownEvent
		}
	}
	_, err = s.accept(ctx, events, math.MaxInt)
	return rejected, err
}
