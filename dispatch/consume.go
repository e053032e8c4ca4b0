package dispatch

import (
	"context"
	"errors"
	"fmt"

	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
)

// errUnknownEvent rejects an event from Kafka that the state store lacks. The row of a delivery
// refers to the row of its event, so such an event can have no delivery.
var errUnknownEvent = errors.New("the event is not in the state store")

// AcceptKnown is Accept for events from Kafka. It accepts the events that the state store has. It
// returns the other events by id, with the reason. The store lacks events after a restore from a
// backup, or if several installations share a Kafka topic.
func (s *Service) AcceptKnown(ctx context.Context, batch []outbox.Event) (rejected map[string]error, err error) {
	ids := make([]string, len(batch))
	for i, event := range batch {
		ids[i] = event.ID
	}
	known, err := sqlstore.ExistingIDs(s.DB.View(ctx), &selectExisting, ids)
	if err != nil {
		return nil, fmt.Errorf("reading known events: %w", err)
	}
	kept := make([]outbox.Event, 0, len(batch))
	for _, event := range batch {
		if known[event.ID] {
			kept = append(kept, event)
			continue
		}
		if rejected == nil {
			rejected = map[string]error{}
		}
		rejected[event.ID] = errUnknownEvent
	}
	return rejected, s.Accept(ctx, kept)
}

var selectExisting = sqlstore.NewBatchStatement(0, "SELECT id FROM event WHERE id IN (", "?", ")")
