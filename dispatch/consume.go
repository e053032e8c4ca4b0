package dispatch

import (
	"context"
	"errors"
	"fmt"
	"math"

	"vayu/dispatch/outbox"
)

// errUnknownEvent is the reason for rejecting an event from Kafka that is not in the state store. The row of a delivery
// refers to the row of its event, so such an event can have no delivery.
var errUnknownEvent = errors.New("the event is not in the state store")

// AcceptIDs stores the deliveries of the events from Kafka that have the given ids. It returns the ids of the events
// that are not in the state store, each with the reason. Events are missing after a restore from a backup, or if
// several installations share a Kafka topic. If err is nil, the deliveries of all other events are stored. AcceptIDs is
// idempotent.
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
