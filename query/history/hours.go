package history

import (
	"context"
	"unsafe"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema"
)

// dayHours holds the hourly figures of one place on one Indian day, after gap filling.
type dayHours []row

func (d dayHours) bytes() int64 {
	return int64(unsafe.Sizeof(d)) + int64(cap(d))*int64(unsafe.Sizeof(row{}))
}

// hours returns the hours of a place on the given days, in time order. It calls `read` for days that are not cached.
// Hours stay cached until a roll-up recomputes their day. The cache also discards them if `index` is new, because
// then stations were added, removed or relocated.
func (c *cache) hours(ctx context.Context, key place, index *places.Index, days Span,
	read func(ctx context.Context, days Span) ([]row, error),
) ([]row, error) {
	p := c.entry(key)
	before, missing, after, marks := p.cachedHours(c, index, days)
	if missing.First > missing.Last {
		return before, nil
	}
	c.counters.Loads.Inc()
	rows, err := read(ctx, missing)
	if err != nil {
		return nil, err
	}
	c.storeHours(p, index, missing, rows, marks)
	return append(append(before, rows...), after...), nil
}

// cachedHours returns the span of days to read, and the cached hours before and after that span. `marks` is the
// present number of invalidations, which the caller passes to storeHours.
func (p *entry) cachedHours(
	h *cache, index *places.Index, days Span,
) (before []row, missing Span, after []row, marks uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.index != index {
		p.index, p.dirty = index, 0
	}
	if p.dirty != notDirty {
		for d, known := range p.hours {
			if d >= p.dirty {
				h.addBytes(p, -known.bytes())
				delete(p.hours, d)
			}
		}
		p.dirty = notDirty
	}
	missing = days
	for ; missing.First <= days.Last; missing.First++ {
		known, ok := p.hours[missing.First]
		if !ok {
			break
		}
		before = append(before, known...)
	}
	for ; missing.Last > missing.First; missing.Last-- {
		if _, ok := p.hours[missing.Last]; !ok {
			break
		}
	}
	for d := missing.Last + 1; d <= days.Last; d++ {
		after = append(after, p.hours[d]...)
	}
	return before, missing, after, p.invalidations
}

// storeHours caches the hours of the given days. It does nothing if the entry was evicted, or if a
// roll-up or a new index has invalidated it since the read began.
func (c *cache) storeHours(p *entry, index *places.Index, days Span, rows []row, marks uint64) {
	defer c.evictToLimit()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.invalidations != marks || p.index != index || p.evicted {
		return
	}
	for d := days.First; d <= days.Last; d++ {
		n := 0
		for n < len(rows) && schema.DayOf(aggregate.Instant(rows[n].At)) <= d {
			n++
		}
		known := make(dayHours, n)
		copy(known, rows)
		rows = rows[n:]
		if old, ok := p.hours[d]; ok {
			c.addBytes(p, -old.bytes())
		}
		c.addBytes(p, known.bytes())
		p.hours[d] = known
	}
}
