package simulator

import (
	"context"
	"net/http"
	"time"

	"vayu/pipeline/httpconnector/httpconnectortest"
)

// tell has callbacks about an order sent at a time.
func (s *Simulator) tell(o *order, at time.Time, times int) { s.teller.Due(o.Reference, at, times) }

// Run sends callbacks when they are due, until ctx ends.
func (s *Simulator) Run(ctx context.Context) error { return s.teller.Run(ctx) }

// Tell sends the callbacks that are due, once each, and returns how long it is until
// the next is. One that is not taken becomes due again.
func (s *Simulator) Tell(ctx context.Context) time.Duration { return s.teller.Tell(ctx) }

// Sign puts onto a callback what the simulator's carry.
func Sign(header http.Header, body []byte, now time.Time) { httpconnectortest.Sign(header, body, now) }
