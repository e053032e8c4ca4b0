package httpconnector

import (
	"time"

	"vayu/schema"
)

// What was sent and the upstream does not know may be on its way to it still: for as
// long as something in between can hold a request, which for usual proxies is a
// minute or less.
const (
	defaultResend = 2 * time.Minute
	leastResend   = time.Second
	mostResend    = 24 * time.Hour
)

// World is the key world: whose requests go there. Live when it is absent.
func (s *Section) World() schema.World {
	return schema.WorldOf(s.Choice("world", schema.Live.String(), schema.Live.String(), schema.Sandbox.String()))
}

// ResendAfter is the key resend-after: how long after it was sent something that the
// upstream does not know is sent again. It is never less than a call may take.
func (s *Section) ResendAfter(d *Description) time.Duration {
	after := s.Duration("resend-after", max(defaultResend, d.Timeout), leastResend, mostResend)
	if after < d.Timeout {
		s.Faultf("resend-after", "must not be less than timeout: what is being sent is not sent again")
	}
	return after
}
