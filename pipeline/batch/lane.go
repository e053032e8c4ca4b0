package batch

import (
	"cmp"
	"slices"
	"time"
)

// lane is an account with records of a kind: each has one, whatever it has sent.
type lane struct {
	account string
	ready   []record // leased, and waiting for their turn
	under   int      // under way
	chunks  int      // leased and not settled
	more    bool     // there may be more to lease
	turn    uint64   // when a record of it was begun last
	leased  uint64   // when something was leased for it last
	// After records that failed the lane tries one at a time, with growing pauses,
	// until one succeeds.
	trouble int
	until   time.Time // end of the pause
}

// may reports whether a record of the lane can begin, or when it can.
func (l *lane) may(now time.Time) (bool, time.Time) {
	switch {
	case len(l.ready) == 0:
		return false, time.Time{}
	case l.trouble == 0:
		return true, time.Time{}
	case l.under > 0: // its outcome says how to go on
		return false, time.Time{}
	case now.Before(l.until):
		return false, l.until
	}
	return true, time.Time{}
}

// desk is whose turn it is: at most room records are under way, and whoever has
// fewest of them is next. So an account alone has all of the room, and one that
// joins it gets every place that becomes free until both have the same.
type desk struct {
	room  int
	under int
	lanes map[string]*lane
	turns uint64
}

func newDesk(room int) *desk { return &desk{room: room, lanes: map[string]*lane{}} }

// lane is that of an account, made when there is none.
func (d *desk) lane(account string) *lane {
	l := d.lanes[account]
	if l == nil {
		l = &lane{account: account}
		d.lanes[account] = l
	}
	return l
}

// next takes the record whose turn it is; false when there is none or no room.
// Then wake is when that may be otherwise by itself, zero for never.
func (d *desk) next(now time.Time) (r record, ok bool, wake time.Time) {
	if d.under >= d.room {
		return record{}, false, time.Time{}
	}
	var best *lane
	for _, l := range d.lanes {
		can, at := l.may(now)
		if !at.IsZero() && (wake.IsZero() || at.Before(wake)) {
			wake = at
		}
		if can && (best == nil || l.under < best.under || l.under == best.under && l.turn < best.turn) {
			best = l
		}
	}
	if best == nil {
		return record{}, false, wake
	}
	d.turns++
	best.turn = d.turns
	r, best.ready = best.ready[0], best.ready[1:]
	best.under++
	d.under++
	return r, true, time.Time{}
}

// add puts the records of a chunk behind those of its lane.
func (d *desk) add(c *chunk, records []record) {
	l := d.lane(c.owner.Account)
	c.lane, c.ready = l, len(records)
	l.chunks++
	l.ready = append(l.ready, records...)
}

// drop takes the records of a chunk away that wait for their turn.
func (d *desk) drop(c *chunk) {
	c.lane.ready = slices.DeleteFunc(c.lane.ready, func(r record) bool { return r.chunk == c })
	c.ready = 0
}

// chunksAtOnce bounds how many chunks of an account are leased in one transaction.
const chunksAtOnce = 8

// wants is what should be leased: for each lane so much that all of its places can
// be filled twice. Who has least is first, and then who has waited longest.
func (d *desk) wants() []want {
	busy := 0
	var hungry []*lane
	for _, l := range d.lanes {
		if l.more || len(l.ready)+l.under > 0 {
			busy++
		}
	}
	share := (d.room + max(busy, 1) - 1) / max(busy, 1)
	for _, l := range d.lanes {
		if l.more && len(l.ready) < share && (l.trouble == 0 || len(l.ready) == 0) {
			hungry = append(hungry, l)
		}
	}
	slices.SortFunc(hungry, func(a, b *lane) int {
		return cmp.Or(cmp.Compare(a.chunks, b.chunks), cmp.Compare(a.leased, b.leased))
	})
	all := make([]want, len(hungry))
	for i, l := range hungry {
		missing := min((share-len(l.ready)+chunkRecords-1)/chunkRecords, chunksAtOnce)
		if l.trouble > 0 {
			missing = 1
		}
		all[i] = want{l.account, missing}
	}
	return all
}

// tidy forgets lanes that have nothing.
func (d *desk) tidy() {
	for account, l := range d.lanes {
		if !l.more && l.chunks == 0 && l.under == 0 {
			delete(d.lanes, account)
		}
	}
}
