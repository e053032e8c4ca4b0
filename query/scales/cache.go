package scales

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/schema/scale"
)

// Key identifies the current answer for a city. The cache needs no size limit, because the possible keys are limited.
type Key struct {
	City  int // position in Snapshot.Cities
	Kinds aggregate.KindSet
	Scale scale.Scale
}

// Cache has the current answers for cities, until there is another snapshot. The zero value is ready to use. It is safe
// for concurrent use.
type Cache struct{ latest atomic.Pointer[answers] }

type answers struct {
	snap  *snapshot.Snapshot
	by    sync.Map // Key -> httpapi.Response
	ready sync.Map // name of a block -> struct{}, for the blocks that Prepare has answered
	group singleflight.Group
}

// blockSize is the number of consecutive cities in Snapshot.Cities (a block) whose hourly means one query reads. The
// query for a block takes about 40 ms, and the query for one city 15 ms.
const blockSize = 50

// Prepare caches the current answers for the city of a query and for the city's block. So a snapshot costs one
// query for each block. Concurrent calls of Prepare call `answer` once. The function `answer` computes and caches the
// answers for the named cities. If it caches none, the next call of Prepare tries again. Prepare does nothing if the
// scale needs no hourly means, the query names kinds of stations, or the figures of the city are old.
func (c *Cache) Prepare(snap *snapshot.Snapshot, q *request.Query, now time.Time, answer func(cities []string)) {
	u := c.Lookup(snap, q, now)
	if u.Whole || u.Key.City < 0 || q.Kinds != 0 || !q.Scale.Hourly() {
		return
	}
	all := c.of(snap)
	first := u.Key.City / blockSize * blockSize
	newest := snap.Newest()
	recent := newest - min(newest, uint32(aggregate.StaleAfter/time.Second)) // a city with older figures needs other hours
	if snap.Cities[u.Key.City].At < recent {
		return
	}
	name := q.Scale.ID() + " " + strconv.Itoa(first)
	if _, done := all.ready.Load(name); all.snap != snap || done {
		return
	}
	_, _, _ = all.group.Do(name, func() (any, error) { //nolint:dogsled // the cache has the result
		if _, done := all.ready.Load(name); done {
			return nil, nil
		}
		var cities []string
		for i := first; i < min(first+blockSize, len(snap.Cities)); i++ {
			if snap.Cities[i].At >= recent {
				cities = append(cities, snap.Index.Label(i))
			}
		}
		answer(cities)
		all.by.Range(func(k, _ any) bool {
			of := k.(Key)
			if of.Scale == q.Scale && of.Kinds == 0 && of.City/blockSize*blockSize == first {
				all.ready.Store(name, struct{}{})
			}
			return true
		})
		return nil, nil
	})
}

// Lookup returns the cached answer to a query, with its age at the time `now`. If there is none, the result has only
// the key. For an unknown city the result also has the error.
func (c *Cache) Lookup(snap *snapshot.Snapshot, q *request.Query, now time.Time) *Unscaled {
	u := &Unscaled{Key: Key{City: -1, Kinds: q.Kinds, Scale: q.Scale}}
	if !q.Current() || !q.Has(request.HasCity) || q.Detail {
		return u
	}
	i, err := snap.Index.Find(q.City)
	if err != nil {
		u.Err = err
		return u
	}
	u.Key.City = i
	if u.Resp, u.Whole = c.Get(snap, u.Key); u.Whole {
		u.Err = q.SetAge(&u.Resp, now)
	}
	return u
}

// Get returns the cached answer for a key. ok is false if the cache has none.
func (c *Cache) Get(snap *snapshot.Snapshot, k Key) (resp httpapi.Response, ok bool) {
	if all := c.latest.Load(); all != nil && all.snap == snap {
		if got, found := all.by.Load(k); found {
			return got.(httpapi.Response), true
		}
	}
	return resp, false
}

// Put stores an answer. If the cached answers are from another snapshot, even a newer one, it first removes them all.
func (c *Cache) Put(snap *snapshot.Snapshot, k Key, resp httpapi.Response) {
	if all := c.of(snap); all.snap == snap {
		all.by.Store(k, resp)
	}
}

// The method `of` returns the cached answers from the snapshot snap. If the cache has answers from another snapshot,
// it replaces them by an empty set. If a concurrent call replaces them first, it returns the answers of that call.
func (c *Cache) of(snap *snapshot.Snapshot) *answers {
	all := c.latest.Load()
	if all == nil || all.snap != snap {
		if fresh := (&answers{snap: snap}); c.latest.CompareAndSwap(all, fresh) {
			return fresh
		}
		all = c.latest.Load()
	}
	return all
}
