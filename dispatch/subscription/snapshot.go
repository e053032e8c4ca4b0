package subscription

import (
	"errors"
	"fmt"
	"math"

	"vayu/internal/state"
	"vayu/schema"
)

// ErrStale says that a subscription has changed since the book was read.
var ErrStale = errors.New("the book of subscriptions is older than the store")

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

// Check fails with ErrStale, inside a transaction, unless the store is as the
// snapshot shows it. Changes that share a transaction and are not committed yet
// count as well.
func (s *Snapshot) Check(tx *state.Tx) error {
	var revision int64
	if err := tx.QueryRow(selectRevision).Scan(&revision); err != nil {
		return fmt.Errorf("comparing the book of subscriptions: %w", err)
	}
	if revision != s.revision {
		return ErrStale
	}
	return nil
}

// Size is how many subscriptions there are.
func (s *Snapshot) Size() int { return s.size }
