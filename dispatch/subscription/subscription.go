// Package subscription manages webhook subscriptions: their table, an in-memory cache of the
// table, and the API.
package subscription

import (
	"time"

	"vayu/schema"
)

// Subscription is a subscription as stored. It is immutable; a change creates a new one.
type Subscription struct {
	ID      string
	Account string
	World   schema.World
	URL     string
	Host    string             // host and port of the URL, in lower case
	Events  []schema.EventType // in the order of schema.EventTypes
	Active  bool               // false: paused, deliveries wait
	Version string
	// ClearNumbers means that recharge.* events contain unmasked mobile numbers.
	ClearNumbers bool

	createdAt int64 // microseconds
	// secrets are the current secret and, during the grace period of a rotation, the previous one.
	// They are empty if the current secret cannot be decrypted.
	secrets       []string
	previousUntil int64 // microseconds
	unreadable    bool  // a stored secret cannot be decrypted
}

// Secrets returns the secrets with which an attempt at the time `now` must be signed, newest first. It returns none if
// the current secret cannot be decrypted. The result is read-only.
func (s *Subscription) Secrets(now time.Time) []string {
	if len(s.secrets) > 1 && now.UnixMicro() >= s.previousUntil {
		return s.secrets[:1]
	}
	return s.secrets
}
