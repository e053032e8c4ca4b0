package history

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema"
)

// preloads is the maximum number of concurrent queries of Preload for the cities that loadMany has not loaded.
const preloads = 4

// Preload loads the days of cities into the cache, with at most two SQL queries if ClickHouse works. It reports no
// error, because [History.Answer] loads the days that are missing in the cache.
func (h *History) Preload(ctx context.Context, cities []places.City) {
	c := h.dayCache
	if len(cities) > 1 && c.tables.Healthy() {
		_ = c.loadMany(ctx, cities)
	}
	var group errgroup.Group
	group.SetLimit(preloads)
	for _, city := range cities {
		group.Go(func() error {
			_, _, err := c.cityDays(ctx, city)
			return err
		})
	}
	_ = group.Wait()
}

// dirtyEntry is an entry with days to reload, from `from` on. `marks` is its number of invalidations before the reload.
type dirtyEntry struct {
	*entry
	from  schema.Day
	marks uint64
}

// loadMany loads the cities that are not in the cache with one query. With another query, it reloads the cities with
// invalidated days. It leaves a city to cityDays if a query would have only that one city.
func (c *cache) loadMany(ctx context.Context, cities []places.City) error {
	var absent []places.City
	stale, first := map[places.City]dirtyEntry{}, notDirty
	for _, city := range cities {
		p, ok := c.entries.Peek(place{city: city})
		if !ok {
			absent = append(absent, city)
			continue
		}
		if from, marks := p.dirtyState(); from != notDirty {
			stale[city] = dirtyEntry{p, from, marks}
			first = min(first, from)
		}
	}
	if len(absent) > 1 {
		marks := c.invalidations.Load()
		days, err := c.readMany(ctx, absent, 0, aggregate.QueryTimeout)
		if err != nil {
			return err
		}
		for _, city := range absent {
			c.add(city, days[city], marks)
		}
	}
	if len(stale) < 2 {
		return nil
	}
	known := make([]places.City, 0, len(stale))
	for city := range stale {
		known = append(known, city)
	}
	days, err := c.readMany(ctx, known, first, c.reloadTimeout)
	if err != nil {
		return err
	}
	for city, p := range stale {
		i, _ := find(days[city], p.from)
		c.replaceTail(p.entry, p.from, p.marks, days[city][i:])
	}
	return nil
}

func (c *cache) readMany(ctx context.Context, cities []places.City, from schema.Day, timeout time.Duration) (map[places.City][]row, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c.counters.Loads.Add(float64(len(cities)))
	days, err := c.tables.readDays(ctx, cities, from)
	if err != nil {
		c.counters.Failures.Inc()
	}
	return days, err
}
