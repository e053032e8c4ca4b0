package history

import (
	"context"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"vayu/query/aggregate"
	"vayu/query/places"
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

// maxCities is the maximum number of entries in a cache. India has 8,000 towns. The total size of the entries has
// another limit, the field `limit`.
const maxCities = 10_000

func newCache(t reader, limit int64, c Counters) (*cache, error) {
	h := &cache{tables: t, limit: limit, reloadTimeout: aggregate.CachedTimeout, counters: c}
	var err error
	h.entries, err = lru.NewWithEvict(maxCities, func(_ place, p *entry) { h.onEvict(p) })
	return h, err
}

// entry returns the cache entry of a place. If there is none, it creates an empty
// entry.
func (c *cache) entry(key place) *entry {
	for {
		if p, ok := c.entries.Get(key); ok {
			return p
		}
		c.entries.ContainsOrAdd(key, newEntry())
	}
}

// invalidate marks the given day and all later days for a reload, in all entries of the cache.
func (c *cache) invalidate(from schema.Day) {
	c.invalidations.Add(1)
	for _, p := range c.entries.Values() {
		p.invalidate(from)
	}
}

// cityDays returns a city's days, sorted, and their cache entry. It first loads the days of a new city, or reloads the
// invalidated days. If a reload fails or is slow, it returns the cached days; a slow reload continues.
func (c *cache) cityDays(ctx context.Context, city places.City) (*entry, []row, error) {
	p, ok := c.entries.Get(place{city: city})
	if ok {
		if dirty, _ := p.dirtyState(); dirty == notDirty {
			return p, *p.days.Load(), nil
		}
	}
	// Concurrent callers share this load. It must therefore continue if the first
	// caller cancels its context.
	done := c.group.DoChan(city.Name+"\x00"+city.State, func() (any, error) {
		p, err := c.load(context.WithoutCancel(ctx), city)
		if err != nil {
			c.counters.Failures.Inc()
		}
		return p, err
	})
	wait := ctx
	if ok {
		var cancel context.CancelFunc
		timeout := c.reloadTimeout
		if !c.tables.Healthy() {
			timeout = min(timeout, aggregate.DownTimeout)
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

func (c *cache) load(ctx context.Context, city places.City) (*entry, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	c.counters.Loads.Inc()
	p, ok := c.entries.Peek(place{city: city})
	if !ok {
		marks := c.invalidations.Load()
		days, err := c.tables.readDays(ctx, []places.City{city}, 0)
		if err != nil {
			return nil, err
		}
		return c.add(city, days[city], marks), nil
	}
	dirty, marks := p.dirtyState()
	if dirty == notDirty {
		return p, nil
	}
	tail, err := c.tables.readDays(ctx, []places.City{city}, dirty)
	if err != nil {
		return nil, err
	}
	c.replaceTail(p, dirty, marks, tail[city])
	return p, nil
}

// add returns the entry of a city. If the city has none, add first adds an entry with `days`. `marks` is the number of
// invalidations before the days were read.
func (c *cache) add(city places.City, days []row, marks uint64) *entry {
	p := newEntry()
	p.mu.Lock()
	c.setDays(p, days)
	p.mu.Unlock()
	if earlier, ok, _ := c.entries.PeekOrAdd(place{city: city}, p); ok { // of a concurrent load
		c.onEvict(p)
		return earlier
	}
	if c.invalidations.Load() != marks {
		p.invalidate(0)
	}
	c.evictToLimit()
	return p
}

// replaceTail replaces the days of an entry from `from` on. `marks` is the entry's number of invalidations before the
// days were read. If that number has grown, the days from min(p.dirty, from) on stay marked for a reload.
func (c *cache) replaceTail(p *entry, from schema.Day, marks uint64, tail []row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	old := *p.days.Load()
	head, _ := find(old, from)
	c.setDays(p, append(slices.Clone(old[:head]), tail...))
	c.dropBlocks(p, from)
	for d := range p.filledDays {
		if d >= from {
			delete(p.filledDays, d)
		}
	}
	if p.invalidations == marks {
		p.dirty = notDirty
	} else {
		p.dirty = min(p.dirty, from)
	}
}

// setDays replaces the days of an entry, and updates the size of the cache. The caller must hold p.mu.
func (c *cache) setDays(p *entry, days []row) {
	grown := cap(days)
	if old := p.days.Swap(&days); old != nil {
		grown -= cap(*old)
	}
	c.addBytes(p, int64(grown)*int64(unsafe.Sizeof(row{})))
}

// addBytes adds `grown` to the size of the cache, in bytes, unless the entry is evicted. The caller must hold p.mu.
func (c *cache) addBytes(p *entry, grown int64) {
	if !p.evicted {
		p.bytes += grown
		c.size.Add(grown)
	}
}

func (c *cache) onEvict(p *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c.addBytes(p, -p.bytes)
	p.evicted = true
}

func (c *cache) evictToLimit() {
	for c.size.Load() > c.limit && c.entries.Len() > 1 {
		c.entries.RemoveOldest()
	}
}
