package described

import (
	"time"

	"vayu/ingest/source/described/messages"
)

// Stream returns what the description says about messages, as the source with a clock; nil
// for a source that fetches.
func (d *Description) Stream(clock func() time.Time) *messages.Owner {
	if d.stream == nil {
		return nil
	}
	return &messages.Owner{Subscription: d.stream, Source: d.Name, Clock: clock, Clean: d.clean}
}
