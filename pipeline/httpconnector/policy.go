package httpconnector

import (
	"time"

	"vayu/internal/config/section"
	"vayu/schema"
)

// Limits and default of resend-after.
const (
	// defaultResend exceeds the time that a request can be in transit. Usual proxies hold a request
	// for a minute or less.
	defaultResend = 2 * time.Minute
	leastResend   = time.Second
	mostResend    = 24 * time.Hour
)

// World reads the key "world": live, which is the default, or sandbox.
func World(s *section.Section) schema.World {
	return schema.WorldOf(s.Choice("world", schema.Live.String(), schema.Live.String(), schema.Sandbox.String()))
}

// ResendAfter reads the key "resend-after": the time after which an order that the provider does
// not have is sent again. It is at least the timeout of a call.
func (d *Description) ResendAfter(s *section.Section) time.Duration {
	after := s.Duration("resend-after", max(defaultResend, d.Timeout), leastResend, mostResend)
	if after < d.Timeout {
		s.Faultf("resend-after", "must not be less than timeout: a call in flight must not be repeated")
	}
	return after
}
