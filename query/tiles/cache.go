package tiles

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
)

// cachedTiles is the largest number of cached tiles of a world. A tile has at most some 60 kB, and mostly 2 to 10 kB.
const cachedTiles = 2_000

// tileLifetime limits how long a tile is cached. A tile shows which places are stale, and this changes with the time.
const tileLifetime = 5 * time.Minute

// Cache renders tiles, and keeps them until the next snapshot, at most for tileLifetime. It is safe for concurrent use.
type Cache struct {
	pins *places.Pins
	slot chan struct{} // limits concurrent rendering, so that tiles leave processors for other requests

	mu     sync.Mutex
	of     *snapshot.Snapshot
	period int64                           // number of periods of tileLifetime since 1970
	tiles  *lru.Cache[Request, *rendering] // of this snapshot and period
	errors map[string]*rendered[*errorsByDistance]
}

// rendering is a tile that is, or will be, rendered.
type rendering = rendered[httpapi.Response]

// rendered is a value that the first caller computes, while the other callers wait for it.
type rendered[T any] struct {
	once  sync.Once
	ready atomic.Bool
	value T
	err   error
}

var errPanicked = errors.New("rendering a tile panicked")

func (r *rendered[T]) get(compute func() (T, error)) (T, error) {
	r.once.Do(func() {
		r.err = errPanicked // stays if `compute` panics
		r.value, r.err = compute()
		r.ready.Store(true)
	})
	return r.value, r.err
}

// NewCache returns a cache without tiles.
func NewCache(pins *places.Pins) *Cache {
	return &Cache{pins: pins, slot: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))}
}

// Slots limits how many tiles each account renders at once. history.Slots implements it.
type Slots interface {
	Acquire(ctx context.Context, account string) (release func(), err error)
}

// Answer returns a tile of a snapshot. To render a tile, which may need 0.1 s of a processor, it acquires one of the
// account's slots. The error is a *schema.Problem if no slot becomes free, or if the pin codes are not loaded.
func (c *Cache) Answer(call *httpapi.Call, r Request, s *snapshot.Snapshot, slots Slots, now time.Time) (httpapi.Response, error) {
	tile, errs := c.entry(r, s, now)
	if tile.ready.Load() && tile.err == nil {
		return tile.value, nil
	}
	release, err := slots.Acquire(call.Context(), call.Account)
	if err != nil {
		return httpapi.Response{}, err
	}
	defer release()
	resp, err := tile.get(func() (httpapi.Response, error) {
		c.slot <- struct{}{}
		defer func() { <-c.slot }()
		return c.render(r, s, errs, now)
	})
	if err != nil {
		c.forget(r, tile)
	}
	if errors.Is(err, places.ErrNoPins) {
		err = schema.NewProblem(schema.ServiceUnavailable, "layer", "The pin codes are not loaded yet. Retry in a moment.")
	}
	return resp, err
}

func (c *Cache) render(r Request, s *snapshot.Snapshot, errs *rendered[*errorsByDistance], now time.Time) (resp httpapi.Response, err error) {
	var body []byte
	media := MVT
	if r.Vector() {
		body, err = r.vector(s, c.pins, now)
	} else {
		media = PNG
		var of *errorsByDistance
		if r.show == uncertainty {
			of, _ = errs.get(func() (*errorsByDistance, error) { return measure(s, r.parameter, now), nil })
		}
		body, err = r.raster(s, of, now)
	}
	if err != nil {
		return resp, fmt.Errorf("tile %d/%d/%d: %w", r.tile.Z, r.tile.X, r.tile.Y, err)
	}
	resp = httpapi.Ready(body, time.Time{}).CompressOnce()
	resp.Type = []string{media}
	return resp, nil
}

// entry returns the entry of a tile, and the entry with the interpolation errors of the tile's parameter. It first
// empties the cache if there is a new snapshot, or after each tileLifetime. If s is older than the snapshot of the
// cache, entry returns new entries, and does not cache them.
func (c *Cache) entry(r Request, s *snapshot.Snapshot, now time.Time) (*rendering, *rendered[*errorsByDistance]) {
	period := now.Unix() / int64(tileLifetime/time.Second)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of != s || c.period != period {
		if c.of != nil && s.Built.Before(c.of.Built) {
			return &rendering{}, &rendered[*errorsByDistance]{}
		}
		c.of, c.period, c.errors = s, period, map[string]*rendered[*errorsByDistance]{}
		c.tiles, _ = lru.New[Request, *rendering](cachedTiles) // fails only if the size is not positive
	}
	tile, ok := c.tiles.Get(r)
	if !ok {
		tile = &rendering{}
		c.tiles.Add(r, tile)
	}
	errs := c.errors[r.parameter]
	if errs == nil {
		errs = &rendered[*errorsByDistance]{}
		c.errors[r.parameter] = errs
	}
	return tile, errs
}

// forget removes a tile that could not be rendered.
func (c *Cache) forget(r Request, tile *rendering) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if kept, ok := c.tiles.Peek(r); ok && kept == tile {
		c.tiles.Remove(r)
	}
}
