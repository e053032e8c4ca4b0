package outbox

import (
	"context"
	"time"

	"vayu/internal/tracing"
)

// Steps starts a span (a timed step) for each event that has a trace. The caller ends the spans with [tracing.DoneAll].
func Steps(ctx context.Context, t *tracing.Tracer, batch []Event, now time.Time, name string, kind tracing.Kind) (all []tracing.Span) {
	if t == nil {
		return nil
	}
	for i := range batch {
		if e := &batch[i]; e.Trace != "" {
			_, span := t.Resume(ctx, e.Trace, e.CreatedAt, now, name, kind)
			span.Set(tracing.Event, e.ID)
			span.Set(tracing.EventType, string(e.Type))
			all = append(all, span)
		}
	}
	return all
}
