package described

import (
	"time"

	"vayu/ingest/source/described/messages"
)

// Stream returns the description's subscription to messages, with the given clock. It returns nil for a source that
// fetches.
func (d *Description) Stream(clock func() time.Time) *messages.Owner {
	if d.stream == nil {
		return nil
	}
	return &messages.Owner{Subscription: d.stream, Source: d.Name, Clock: clock, Clean: d.clean}
}
