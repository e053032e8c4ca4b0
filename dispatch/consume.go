package dispatch

import (
	"context"
	"errors"
	"fmt"

	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
)

// errUnknownEvent is why an event of the log is put aside: deliveries refer to
// events of the store.
var errUnknownEvent = errors.New("the event is not in the state store")

// Take is Accept for events that come from a log, which may hold what the store
// does not: after the store was restored from a backup, or when two installations
// share a topic. Those are returned with the reason, and all others are stored.
func (s *Service) Take(ctx context.Context, batch []outbox.Event) (buried map[string]error, err error) {
	ids := make([]string, len(batch))
	for i, event := range batch {
		ids[i] = event.ID
	}
	known, err := sqlstore.Present(s.DB.View(ctx), &selectKnown, ids)
	if err != nil {
		return nil, fmt.Errorf("looking for events: %w", err)
	}
	kept := make([]outbox.Event, 0, len(batch))
	for _, event := range batch {
		if known[event.ID] {
			kept = append(kept, event)
			continue
		}
		if buried == nil {
			buried = map[string]error{}
		}
		buried[event.ID] = errUnknownEvent
	}
	return buried, s.Accept(ctx, kept)
}

var selectKnown = sqlstore.Group(0, "SELECT id FROM event WHERE id IN (", "?", ")")
