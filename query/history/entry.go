package history

import (
	"math"
	"sync"
	"sync/atomic"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema"
)

// entry holds the days of one city, or the hours of one place.
type entry struct {
	days atomic.Pointer[[]row] // sorted, immutable
	mu   sync.Mutex
	// bytes is how many bytes of the cache's size this entry uses. It is 0 after the entry is evicted.
	bytes   int64
	evicted bool
	// dirty is the first day that must be reloaded; notDirty if there is none.
	dirty schema.Day
	// invalidations counts the calls of invalidate. If it changed during a reload, the reloaded days stay dirty.
	invalidations uint64
	filledDays    map[schema.Day]aggregate.Figures // days with gaps filled
	// blocks has the JSON text of days, by block number (see blockOf). Only
	// queries for a range of days create blocks.
	blocks map[schema.Day]*block
	// hours has the hours of each day. They are valid only for `index`, which determined the stations. A day with an
	// empty list has no hours in ClickHouse.
	hours map[schema.Day]dayHours
	index *places.Index
}

func newEntry() *entry {
	return &entry{dirty: notDirty, filledDays: map[schema.Day]aggregate.Figures{}, blocks: map[schema.Day]*block{}, hours: map[schema.Day]dayHours{}}
}

// place is the key of a cache entry: a city or a position, and the kinds of stations that count. `kinds` is 0 for
// the default kinds.
type place struct {
	city  places.City
	point places.Point
	kinds aggregate.KindSet
}

const notDirty = schema.Day(math.MaxInt32)

func (p *entry) invalidate(from schema.Day) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dirty = min(p.dirty, from)
	p.invalidations++
}

func (p *entry) dirtyState() (dirty schema.Day, marks uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dirty, p.invalidations
}
