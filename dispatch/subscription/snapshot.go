package subscription

import (
	"math"

	"vayu/internal/tablecache"
	"vayu/schema"
)

// unread is the revision of a cache before its first refresh. No store has this revision.
const unread = math.MinInt64

// Snapshot is an immutable state of the cache.
type Snapshot struct {
	revision   int64 // of the last change that the snapshot has
	byID       *tablecache.Map[string, *Subscription]
	byOwner    *tablecache.Map[schema.Owner, *ownerEntry]
	size       int // without deleted subscriptions
	unreadable int // subscriptions with a secret that cannot be decrypted
}

// ownerEntry has the subscriptions of an owner by event type, sorted by id, without
// deleted ones.
type ownerEntry struct {
	byEvent map[schema.EventType][]*Subscription
}

// Matching returns the subscriptions to an event type, including paused ones but not
// deleted ones. The result is read-only.
func (s *Snapshot) Matching(account string, world schema.World, event schema.EventType) []*Subscription {
	h := s.byOwner.Get(schema.Owner{Account: account, World: world})
	if h == nil {
		return nil
	}
	return h.byEvent[event]
}
