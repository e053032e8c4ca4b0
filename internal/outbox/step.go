package outbox

import (
	"context"
	"time"

	"vayu/internal/trace"
)

// Steps begins a step in the trace of each event of a batch that has one, to be ended
// by [trace.DoneAll].
func Steps(ctx context.Context, t *trace.Tracer, batch []Event, now time.Time, name string, kind trace.Kind) (all []trace.Span) {
	if t == nil {
		return nil
	}
	for i := range batch {
		if e := &batch[i]; e.Trace != "" {
			_, span := t.Resume(ctx, e.Trace, e.CreatedAt, now, name, kind)
			span.Set(trace.Event, e.ID)
			span.Set(trace.EventType, string(e.Type))
			all = append(all, span)
		}
	}
	return all
}
