package dispatch

import (
	"context"
	"time"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/dispatch/sender"
	"vayu/internal/tracing"
)

// steps starts the span (timed step) "delivery store" in the trace of each event of a group.
func (s *Service) steps(ctx context.Context, group []delivery.Order, now time.Time) []tracing.Span {
	if s.Trace == nil {
		return nil
	}
	var events []outbox.Event
	for i := range group {
		if i == 0 || group[i].Event != group[i-1].Event { // orders of one event are adjacent
			events = append(events, *group[i].Event)
		}
	}
	return outbox.Steps(ctx, s.Trace, events, now, "delivery store", tracing.Consumer)
}

// deliver makes an attempt, and records the attempt as a span in the trace of the event.
func (s *Service) deliver(ctx context.Context, w *work, post sender.Post) sender.Result {
	if s.Trace == nil {
		return s.Sender.Send(ctx, post)
	}
	ctx, span := s.Trace.Resume(ctx, w.Trace, w.Happened, s.Now(), "delivery attempt", tracing.Client)
	result := s.Sender.Send(ctx, post)
	if !span.Recording() || result.Unsent { // an unsent attempt has no span
		return result
	}
	span.Set(tracing.Event, w.EventID)
	span.Set(tracing.EventType, string(w.Type))
	span.Set(tracing.Delivery, w.ID)
	span.SetInt(tracing.Number, w.Attempts+1)
	span.Set(tracing.Stage, string(result.Stage))
	span.SetInt(tracing.Status, result.Status)
	if !result.OK() {
		span.Fail()
	}
	span.End()
	return result
}
