package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"vayu/internal/outbox"
	"vayu/internal/state"
)

// errUnknownEvent is why an event of the log is put aside: deliveries refer to
// events of the store.
var errUnknownEvent = errors.New("the event is not in the state store")

// Take is Accept for events that come from a log, which may hold what the store
// does not: after the store was restored from a backup, or when two installations
// share a topic. Those are returned with the reason, and all others are stored.
func (s *Service) Take(ctx context.Context, batch []outbox.Event) (buried map[string]error, err error) {
	known, err := s.known(ctx, batch)
	if err != nil {
		return nil, err
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

// known is which events of a batch are in the store.
func (s *Service) known(ctx context.Context, batch []outbox.Event) (map[string]bool, error) {
	known := make(map[string]bool, len(batch))
	if len(batch) == 0 {
		return known, nil
	}
	args := make([]any, len(batch))
	places := make([]string, len(batch))
	for i, event := range batch {
		args[i], places[i] = event.ID, "$"+strconv.Itoa(i+1)
	}
	err := state.Each(s.DB.View(ctx), func(row state.Scanner) error {
		var id string
		err := row.Scan(&id)
		known[id] = true
		return err
	}, "SELECT id FROM event WHERE id IN ("+strings.Join(places, ", ")+")", args...)
	if err != nil {
		return nil, fmt.Errorf("looking for events: %w", err)
	}
	return known, nil
}
