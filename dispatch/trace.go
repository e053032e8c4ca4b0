package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/tracing"
)

// steps starts a span (timed step) "delivery store" in the trace of each event of a group.
func (s *Service) steps(ctx context.Context, group []delivery.Draft, now time.Time) []tracing.Span {
	if s.Trace == nil {
		return nil
	}
	var events []outbox.Event
	for i := range group {
		if i == 0 || group[i].Event != group[i-1].Event { // drafts of one event are adjacent
			events = append(events, *group[i].Event)
		}
	}
	return outbox.Steps(ctx, s.Trace, events, now, "delivery store", tracing.Consumer)
}
