package history

import (
	"context"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"vayu/query/gapfill"
	"vayu/query/places"
	"vayu/query/rollup"
	"vayu/schema"
)

// cache caches days of cities in memory. The first query for a city loads all days of the city with one SQL query.
// Later queries find days by binary search. A second cache of this type has the hours of places, by day.
type cache struct {
	tables        reader
	entries       *lru.Cache[place, *entry]
	group         singleflight.Group
	size          atomic.Int64 // bytes of cached days and hours
	limit         int64
	reloadTimeout time.Duration // longest wait for a reload of invalidated days
	invalidations atomic.Uint64 // number of calls of invalidate
	counters      Counters
}

// Counters count the reads of history from ClickHouse, and the reads that failed.
type Counters struct{ Loads, Failures prometheus.Counter }

// maxCities is the largest number of entries in a cache. India has 8,000 towns. The field limit bounds the total size
// of the entries.
const maxCities = 10_000

func newCache(t reader, limit int64, c Counters) (*cache, error) {
	h := &cache{tables: t, limit: limit, reloadTimeout: rollup.CachedTimeout, counters: c}
	var err error
	h.entries, err = lru.NewWithEvict(maxCities, func(_ place, p *entry) { h.onEvict(p) })
	return h, err
}

// entry holds the days of one city, or the hours of one place.
type entry struct {
	days atomic.Pointer[[]row] // sorted, immutable
	mu   sync.Mutex
	// bytes is the part of this entry in the size of the cache. It is 0 after the entry is evicted.
	bytes   int64
	evicted bool
	// dirty is the first day that must be reloaded; notDirty if there is none.
	dirty schema.Day
	// invalidations counts the calls of invalidate. If it changed during a reload, the reload leaves dirty unchanged.
	invalidations uint64
	filledDays    map[schema.Day]rollup.Figures // days with gaps filled
	// blocks has the JSON text of days, by block number (see blockOf). Only
	// queries for a range of days create blocks.
	blocks map[schema.Day]*block
	// hours has the hours of each day. They are valid only together with index, which determined the stations. A day
	// with an empty list has no hours in ClickHouse.
	hours map[schema.Day]dayHours
	index *places.Index
}

func newEntry() *entry {
	return &entry{dirty: notDirty, filledDays: map[schema.Day]rollup.Figures{}, blocks: map[schema.Day]*block{}, hours: map[schema.Day]dayHours{}}
}

const notDirty = schema.Day(math.MaxInt32)

// invalidate marks the given day and all later days for a reload, in all entries.
func (h *cache) invalidate(from schema.Day) {
	h.invalidations.Add(1)
	for _, p := range h.entries.Values() {
		p.invalidate(from)
	}
}

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

// cityDays returns a city's days, sorted. It first reloads the days that are marked as dirty. If ClickHouse is down or
// slow, it returns the cached days while the reload continues.
func (h *cache) cityDays(ctx context.Context, c places.City) (*entry, []row, error) {
	p, ok := h.entries.Get(place{city: c})
	if ok {
		if dirty, _ := p.dirtyState(); dirty == notDirty {
			return p, *p.days.Load(), nil
		}
	}
	// Concurrent callers share this load. It must therefore continue if the first
	// caller cancels its context.
	done := h.group.DoChan(c.Name+"\x00"+c.State, func() (any, error) {
		p, err := h.load(context.WithoutCancel(ctx), c)
		if err != nil {
			h.counters.Failures.Inc()
		}
		return p, err
	})
	wait := ctx
	if ok {
		var cancel context.CancelFunc
		timeout := h.reloadTimeout
		if !h.tables.Healthy() {
			timeout = min(timeout, rollup.DownTimeout)
		}
		wait, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	select {
	case <-wait.Done():
		if ok {
			return p, *p.days.Load(), nil
		}
		return nil, nil, wait.Err()
	case result := <-done:
		if result.Err == nil {
			p = result.Val.(*entry)
			return p, *p.days.Load(), nil
		}
		if ok {
			return p, *p.days.Load(), nil
		}
		return nil, nil, result.Err
	}
}

func (h *cache) load(ctx context.Context, c places.City) (*entry, error) {
	ctx, cancel := context.WithTimeout(ctx, rollup.QueryTimeout)
	defer cancel()
	h.counters.Loads.Inc()
	p, ok := h.entries.Peek(place{city: c})
	if !ok {
		touches := h.invalidations.Load()
		days, err := h.tables.days(ctx, c, 0)
		if err != nil {
			return nil, err
		}
		p = newEntry()
		h.setDays(p, days)
		h.entries.Add(place{city: c}, p)
		if h.invalidations.Load() != touches {
			p.invalidate(0)
		}
		h.evictToLimit()
		return p, nil
	}
	dirty, marks := p.dirtyState()
	if dirty == notDirty {
		return p, nil
	}
	tail, err := h.tables.days(ctx, c, dirty)
	if err != nil {
		return nil, err
	}
	old := *p.days.Load()
	head, _ := find(old, dirty)
	h.setDays(p, append(slices.Clone(old[:head]), tail...))
	p.mu.Lock()
	defer p.mu.Unlock()
	h.dropBlocks(p, dirty)
	for d := range p.filledDays {
		if d >= dirty {
			delete(p.filledDays, d)
		}
	}
	if p.invalidations == marks {
		p.dirty = notDirty
	}
	return p, nil
}

// setDays replaces the days of an entry, and updates the size of the cache.
func (h *cache) setDays(p *entry, days []row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	grown := cap(days)
	if old := p.days.Swap(&days); old != nil {
		grown -= cap(*old)
	}
	h.addBytes(p, int64(grown)*int64(unsafe.Sizeof(row{})))
}

// addBytes adds grown to the size of the cache, in bytes, unless the entry is evicted. The caller must hold p.mu.
func (h *cache) addBytes(p *entry, grown int64) {
	if !p.evicted {
		p.bytes += grown
		h.size.Add(grown)
	}
}

func (h *cache) onEvict(p *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.addBytes(p, -p.bytes)
	p.evicted = true
}

func (h *cache) evictToLimit() {
	for h.size.Load() > h.limit && h.entries.Len() > 1 {
		h.entries.RemoveOldest()
	}
}

// filled returns the given days with gaps filled from stations nearby, and caches them. If the values of these stations
// cannot be read, the gaps stay and whole is false. The time limit is shorter if the last query of ClickHouse failed.
func (h *cache) filled(
	ctx context.Context, p *entry, days []row, neighbours func() []string,
) (out []row, whole bool) {
	gaps := false
	for i := range days {
		gaps = gaps || days[i].Missing() != 0
	}
	if !gaps {
		return days, true
	}
	out = slices.Clone(days)
	var wanted []*rollup.Figures
	p.mu.Lock()
	for i := range out {
		if out[i].Missing() == 0 {
			continue
		}
		if f, ok := p.filledDays[out[i].day]; ok && f.At == out[i].At {
			out[i].Figures = f
			continue
		}
		wanted = append(wanted, &out[i].Figures)
	}
	marks := p.invalidations
	p.mu.Unlock()
	if len(wanted) == 0 {
		return out, true
	}
	ids := neighbours()
	timeout := rollup.FillTimeout
	if !h.tables.Healthy() {
		timeout = min(h.reloadTimeout, rollup.DownTimeout)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := gapfill.Fill(ctx, h.tables.Tables, ids, wanted); err != nil {
		h.counters.Failures.Inc()
		return out, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.invalidations == marks {
		for i := range out {
			if days[i].Missing() != 0 {
				p.filledDays[out[i].day] = out[i].Figures
			}
		}
	}
	return out, true
}
