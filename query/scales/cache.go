package scales

import (
	"sync"
	"sync/atomic"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema/scale"
)

// Key names the current answer for a city, which is one of a limited number.
type Key struct {
	City  int // position in Snapshot.Cities
	Kinds rollup.KindSet
	Scale scale.Scale
}

// Cache has the current answers for cities, until there is another snapshot. The zero value is ready to use. It is safe
// for concurrent use.
type Cache struct{ latest atomic.Pointer[answers] }

type answers struct {
	snap *snapshot.Snapshot
	by   sync.Map // Key -> httpapi.Response
}

// Get returns the cached answer.
func (c *Cache) Get(snap *snapshot.Snapshot, k Key) (resp httpapi.Response, ok bool) {
	if all := c.latest.Load(); all != nil && all.snap == snap {
		if got, found := all.by.Load(k); found {
			return got.(httpapi.Response), true
		}
	}
	return resp, false
}

// Put stores an answer. An answer from an older snapshot than the cached ones replaces them all, and is itself replaced
// by the next one.
func (c *Cache) Put(snap *snapshot.Snapshot, k Key, resp httpapi.Response) {
	all := c.latest.Load()
	if all == nil || all.snap != snap {
		fresh := &answers{snap: snap}
		if c.latest.CompareAndSwap(all, fresh) {
			all = fresh
		} else if all = c.latest.Load(); all.snap != snap {
			return
		}
	}
	all.by.Store(k, resp)
}
