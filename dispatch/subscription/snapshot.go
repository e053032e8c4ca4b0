package subscription

import (
	"math"

	"vayu/schema"
)

// unread is the revision of a book that nothing was read into: that of no store.
const unread = math.MinInt64

// Snapshot is the book at one moment. It never changes.
type Snapshot struct {
	revision   int64 // of the store; everything up to it is here
	byID       table[*Subscription]
	byOwner    [len(schema.Worlds)]table[*holding]
	size       int // subscriptions that are not deleted
	unreadable int // of these, such as cannot sign with every secret they have
}

// holding is the subscriptions of one owner by what they want, each list in the
// order of ids. Deleted ones are in none.
type holding struct {
	byEvent map[schema.EventType][]*Subscription
}

// Matching is which subscriptions want an event; deleted ones do not, paused ones
// do. The caller must not change it.
func (s *Snapshot) Matching(account string, world schema.World, event schema.EventType) []*Subscription {
	h := s.byOwner[world].get(account)
	if h == nil {
		return nil
	}
	return h.byEvent[event]
}
