package subscription

import (
	"math"
	"time"

	"vayu/internal/tablecache"
	"vayu/schema"
)

// unread is the revision of a cache before its first refresh. The store never has this revision.
const unread = math.MinInt64

// Snapshot is an immutable state of the cache.
type Snapshot struct {
	revision   int64 // revision of the last change that the snapshot includes
	byID       *tablecache.Map[string, *Subscription]
	byAudience *tablecache.Map[audienceKey, []*Subscription] // sorted by id
	size       int
	unreadable int // subscriptions with a secret that cannot be decrypted
}

// audienceKey selects the subscriptions of an owner to an event type.
type audienceKey struct {
	schema.Owner

	event schema.EventType
}

// Matching returns the subscriptions to an event type, including paused ones. The result is read-only.
func (s *Snapshot) Matching(account string, world schema.World, event schema.EventType) []*Subscription {
	return s.byAudience.Get(audienceKey{schema.Owner{Account: account, World: world}, event})
}

// Saw reports whether the subscription existed at the time of an event, within schema.WebhookClockMargin. A
// subscription must not get older events, which a replay or a reset of Kafka offsets can deliver up to a month later.
func (s *Subscription) Saw(at time.Time) bool {
	return s.createdAt <= at.Add(schema.WebhookClockMargin).UnixMicro()
}
