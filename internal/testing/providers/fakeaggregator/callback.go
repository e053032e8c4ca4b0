package fakeaggregator

import (
	"context"
	"net/http"
	"time"

	"vayu/internal/testing/providers"
)

// scheduleCallbacks schedules callbacks about an order.
func (s *Simulator) scheduleCallbacks(o *order, at time.Time, times int) {
	s.callbacks.Schedule(o.Reference, at, times)
}

// Run sends due callbacks until ctx ends.
func (s *Simulator) Run(ctx context.Context) error { return s.callbacks.Run(ctx) }

// SendCallbacks sends the due callbacks, once each, and returns the time until the next. A
// callback that is not acknowledged becomes due again.
func (s *Simulator) SendCallbacks(ctx context.Context) time.Duration {
	return s.callbacks.SendCallbacks(ctx)
}

// Sign signs a callback as the simulator does, for tests that send their own.
func Sign(header http.Header, body []byte, now time.Time) { providers.Sign(header, body, now) }
