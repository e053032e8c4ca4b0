package subscription

import (
	"cmp"
	"slices"
	"time"

	"vayu/internal/tablecache"
	"vayu/schema"
)

// generation builds the next snapshot of the cache.
type generation struct {
	next    *Snapshot
	byID    *tablecache.Draft[string, *Subscription]
	byOwner *tablecache.Draft[schema.Owner, *ownerEntry]
	changed map[schema.Owner]*ownerEntry // copied entries, which this generation may change
	deleted []deletedEntry
}

// deletedEntry is a deleted subscription, and the time at which the cache read the deletion.
type deletedEntry struct {
	id string
	at time.Time
}

// newGeneration starts with the content of a snapshot; nil means without content.
func newGeneration(before *Snapshot) *generation {
	if before == nil {
		before = &Snapshot{}
	}
	next := *before
	return &generation{next: &next, byID: before.byID.Edit(), byOwner: before.byOwner.Edit(), changed: map[schema.Owner]*ownerEntry{}}
}

// put adds or replaces a subscription. It is a no-op if the generation already has the
// subscription with the same or a higher revision.
func (e *generation) put(s *Subscription, now time.Time) {
	old := e.byID.Get(s.ID)
	if old != nil && old.revision >= s.revision {
		return
	}
	e.byID.Put(s.ID, s)
	if old != nil && !old.Deleted {
		e.count(old, -1)
		for _, event := range old.Events {
			e.ownerEntry(old.owner()).drop(event, old.ID)
		}
	}
	if s.Deleted {
		e.deleted = append(e.deleted, deletedEntry{s.ID, now})
		return
	}
	e.count(s, 1)
	for _, event := range s.Events {
		e.ownerEntry(s.owner()).add(event, s)
	}
}

func (e *generation) count(s *Subscription, n int) {
	e.next.size += n
	if s.unreadable {
		e.next.unreadable += n
	}
}

// ownerEntry returns this generation's copy of an owner's entry. The first call makes the copy.
func (e *generation) ownerEntry(o schema.Owner) *ownerEntry {
	h := e.changed[o]
	if h != nil {
		return h
	}
	h = &ownerEntry{byEvent: map[schema.EventType][]*Subscription{}}
	if before := e.byOwner.Get(o); before != nil {
		const room = 8 // spare capacity, to avoid a second copy
		for event, list := range before.byEvent {
			h.byEvent[event] = append(make([]*Subscription, 0, len(list)+room), list...)
		}
	}
	e.changed[o] = h
	return h
}

// finish completes and returns the snapshot.
func (e *generation) finish(revision int64) *Snapshot {
	for o, h := range e.changed {
		if len(h.byEvent) == 0 {
			e.byOwner.Delete(o)
		} else {
			e.byOwner.Put(o, h)
		}
	}
	e.next.byID, e.next.byOwner, e.next.revision = e.byID.Map(), e.byOwner.Map(), revision
	return e.next
}

func byID(s *Subscription, id string) int { return cmp.Compare(s.ID, id) }

func (h *ownerEntry) add(event schema.EventType, s *Subscription) {
	list := h.byEvent[event]
	at, found := slices.BinarySearchFunc(list, s.ID, byID)
	if !found { // the types may contain duplicates
		h.byEvent[event] = slices.Insert(list, at, s)
	}
}

func (h *ownerEntry) drop(event schema.EventType, id string) {
	list := h.byEvent[event]
	at, found := slices.BinarySearchFunc(list, id, byID)
	switch {
	case found && len(list) == 1:
		delete(h.byEvent, event)
	case found:
		h.byEvent[event] = slices.Delete(list, at, at+1)
	}
}
