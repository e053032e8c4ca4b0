package subscription

import (
	"cmp"
	"slices"

	"vayu/internal/tablecache"
	"vayu/schema"
)

// generation builds the next snapshot of the cache from the previous one.
type generation struct {
	next       *Snapshot
	byID       *tablecache.Draft[string, *Subscription]
	byAudience *tablecache.Draft[audienceKey, []*Subscription]
	changed    map[audienceKey][]*Subscription // lists that this generation has copied, and may change
}

// newGeneration returns a generation with the content of a snapshot; an empty generation for nil.
func newGeneration(before *Snapshot) *generation {
	if before == nil {
		before = &Snapshot{}
	}
	next := *before
	return &generation{next: &next, byID: before.byID.Edit(), byAudience: before.byAudience.Edit(), changed: map[audienceKey][]*Subscription{}}
}

func (g *generation) put(s *Subscription) {
	g.remove(s.ID)
	g.byID.Put(s.ID, s)
	g.count(s, 1)
	for _, event := range s.Events {
		g.update(s, event, func(list []*Subscription, at int, found bool) []*Subscription {
			if found { // the types may contain duplicates
				return list
			}
			return slices.Insert(list, at, s)
		})
	}
}

// remove removes a subscription. An unknown id is no error.
func (g *generation) remove(id string) {
	old := g.byID.Get(id)
	if old == nil {
		return
	}
	g.byID.Delete(id)
	g.count(old, -1)
	for _, event := range old.Events {
		g.update(old, event, func(list []*Subscription, at int, found bool) []*Subscription {
			if !found {
				return list
			}
			return slices.Delete(list, at, at+1)
		})
	}
}

func (g *generation) count(s *Subscription, n int) {
	g.next.size += n
	if s.unreadable {
		g.next.unreadable += n
	}
}

// update replaces the list of the subscriptions to an event type by the result of `change`. `change` gets the list,
// the position at which s is or belongs, and whether s is in the list. The first update of a list copies the list,
// because older snapshots still use the original.
func (g *generation) update(s *Subscription, event schema.EventType, change func(list []*Subscription, at int, found bool) []*Subscription) {
	of := audienceKey{schema.Owner{Account: s.Account, World: s.World}, event}
	list, own := g.changed[of]
	if !own {
		const room = 8 // spare capacity, to avoid a second copy
		before := g.byAudience.Get(of)
		list = append(make([]*Subscription, 0, len(before)+room), before...)
	}
	at, found := slices.BinarySearchFunc(list, s.ID, func(s *Subscription, id string) int { return cmp.Compare(s.ID, id) })
	g.changed[of] = change(list, at, found)
}

func (g *generation) finish(revision int64) *Snapshot {
	for of, list := range g.changed {
		if len(list) == 0 {
			g.byAudience.Delete(of)
		} else {
			g.byAudience.Put(of, list)
		}
	}
	g.next.byID, g.next.byAudience, g.next.revision = g.byID.Map(), g.byAudience.Map(), revision
	return g.next
}
