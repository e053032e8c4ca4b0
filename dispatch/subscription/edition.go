package subscription

import (
	"cmp"
	"slices"
	"time"

	"vayu/schema"
)

// edition is the next snapshot until it is published. What it shares with the
// one before is not touched.
type edition struct {
	next    *Snapshot
	byID    draft[*Subscription]
	byOwner [len(schema.Worlds)]draft[*holding]
	changed map[schema.Owner]*holding // the edition's own
	gone    []departed
}

// departed is a deleted subscription, and when it was first seen so.
type departed struct {
	id string
	at time.Time
}

// editionOf begins with what a snapshot has; with nothing for nil.
func editionOf(before *Snapshot) *edition {
	e := &edition{next: &Snapshot{}, changed: map[schema.Owner]*holding{}}
	if before != nil {
		*e.next = *before
	}
	e.byID.of = &e.next.byID
	for w := range e.byOwner {
		e.byOwner[w].of = &e.next.byOwner[w]
	}
	return e
}

// put brings a subscription in, in place of its older form. One that is known
// already, or in a newer form, changes nothing.
func (e *edition) put(s *Subscription, now time.Time) {
	old := e.next.byID.get(s.ID)
	if old != nil && old.revision >= s.revision {
		return
	}
	e.byID.put(s.ID, s)
	if old != nil && !old.Deleted {
		e.count(old, -1)
		for _, event := range old.Events {
			e.holding(old.owner()).drop(event, old.ID)
		}
	}
	if s.Deleted {
		e.gone = append(e.gone, departed{s.ID, now})
		return
	}
	e.count(s, 1)
	for _, event := range s.Events {
		e.holding(s.owner()).add(event, s)
	}
}

func (e *edition) count(s *Subscription, n int) {
	e.next.size += n
	if s.unreadable {
		e.next.unreadable += n
	}
}

// holding is the edition's own copy of what an owner has. It costs as much as
// the owner has, and is made once.
func (e *edition) holding(o schema.Owner) *holding {
	h := e.changed[o]
	if h != nil {
		return h
	}
	h = &holding{byEvent: map[schema.EventType][]*Subscription{}}
	if before := e.next.byOwner[o.World].get(o.Account); before != nil {
		const room = 8 // so that one more makes no second copy
		for event, list := range before.byEvent {
			h.byEvent[event] = append(make([]*Subscription, 0, len(list)+room), list...)
		}
	}
	e.changed[o] = h
	return h
}

// finish makes the snapshot whole.
func (e *edition) finish(revision int64) *Snapshot {
	for o, h := range e.changed {
		if len(h.byEvent) == 0 {
			e.byOwner[o.World].remove(o.Account)
		} else {
			e.byOwner[o.World].put(o.Account, h)
		}
	}
	e.next.revision = revision
	return e.next
}

func byID(s *Subscription, id string) int { return cmp.Compare(s.ID, id) }

func (h *holding) add(event schema.EventType, s *Subscription) {
	list := h.byEvent[event]
	at, found := slices.BinarySearchFunc(list, s.ID, byID)
	if !found { // a list of types that names one twice has it once
		h.byEvent[event] = slices.Insert(list, at, s)
	}
}

func (h *holding) drop(event schema.EventType, id string) {
	list := h.byEvent[event]
	at, found := slices.BinarySearchFunc(list, id, byID)
	switch {
	case found && len(list) == 1:
		delete(h.byEvent, event)
	case found:
		h.byEvent[event] = slices.Delete(list, at, at+1)
	}
}
