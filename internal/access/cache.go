package access

import (
	"crypto/sha256"
	"maps"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// cachedAccount is an account in the cache. It is immutable: a changed row is a new cachedAccount.
type cachedAccount struct {
	id        string
	name      string
	plan      string
	limit     int64          // calls per month of the plan; 0 for no limit
	allow     []netip.Prefix // empty for every address
	createdAt int64          // microseconds
	revision  int64
	counters  *accountCounters // shared by all versions of the account
}

// cachedKey is a key in the cache, with its account. It is immutable except for the values behind
// state.
type cachedKey struct {
	id               string
	account          *cachedAccount
	world            schema.World
	name             string
	scopes           schema.ScopeSet
	allow            []netip.Prefix // empty for every address
	requireSignature bool
	signingSecret    []byte // encrypted
	expiresAt        int64  // microseconds; 0 for never
	revokedAt        int64  // microseconds; 0 for not
	revision         int64
	state            *keyState // shared by all versions of the key
}

// ended reports whether the key is revoked or expired at now, in microseconds.
func (g *cachedKey) ended(now int64) bool {
	return g.revokedAt != 0 && now >= g.revokedAt || g.expiresAt != 0 && now >= g.expiresAt
}

// keyState holds the counters and buckets of a cached key. A changed row of the key keeps them.
type keyState struct {
	hash    keyHash // hash of the key; guarded by keyCache.mu
	buckets [httpapi.LimitClasses]*bucket
	usedAt  atomic.Int64 // seconds
	dirty   atomic.Bool  // usedAt has not been written to the store
}

// keyHash is the SHA-256 of a key, by which the cache and the store find it.
type keyHash [sha256.Size]byte

// shardCount is the number of shards (parts) of the cache. A change of a key copies its whole shard, which has
// 400 entries if there are 100,000 keys.
const shardCount = 256

// keyCache holds every account, and every key that is neither revoked nor expired. Lookups by hash
// take no lock: a shard is a map that is replaced and never changed.
type keyCache struct {
	shards [shardCount]atomic.Pointer[map[keyHash]*cachedKey]
	size   atomic.Int64
	ended  endedKeys

	mu       sync.RWMutex // guards the fields below, and the replacement of shards
	loaded   bool         // read at least once
	revision int64        // all changes up to it are applied
	accounts map[string]*cachedAccount
	keys     map[string][]keyHash // by account id
	states   map[string]*keyState
}

func (b *keyCache) init() {
	b.accounts = map[string]*cachedAccount{}
	b.keys = map[string][]keyHash{}
	b.states = map[string]*keyState{}
	b.ended.init()
}

// find returns the key with a hash, or nil.
func (b *keyCache) find(hash keyHash) *cachedKey {
	shard := b.shards[hash[0]].Load()
	if shard == nil {
		return nil
	}
	return (*shard)[hash]
}

// byID returns the key with an id, or nil. It takes a lock, unlike find.
func (b *keyCache) byID(id string) *cachedKey {
	b.mu.RLock()
	defer b.mu.RUnlock()
	memory := b.states[id]
	if memory == nil {
		return nil
	}
	return b.find(memory.hash)
}

// account returns an account by its id, or nil.
func (b *keyCache) account(id string) *cachedAccount {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.accounts[id]
}

// loadedRevision returns the last applied revision. begun is false if the cache was never loaded.
func (b *keyCache) loadedRevision() (revision int64, begun bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.revision, b.loaded
}

// invalidate makes the next refresh read everything again.
func (b *keyCache) invalidate() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision = math.MaxInt64 // larger than the store's, so that the next refresh is full
}

// keyRow is a row of api_key.
type keyRow struct {
	cachedKey

	accountID string
	hash      keyHash
}

// delta holds the changed rows that a refresh has read.
type delta struct {
	revision int64
	// full means that all rows were read, so that cached entries without a row are removed.
	full     bool
	accounts []*cachedAccount
	keys     []keyRow
}

// apply adds a delta to the cache. Rows of the same or an older revision are ignored. Keys that
// have ended at now, in microseconds, are removed.
func (b *keyCache) apply(n delta, now int64, buckets func() [httpapi.LimitClasses]*bucket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := cacheUpdate{cache: b, shards: map[byte]map[keyHash]*cachedKey{}}
	memory := b.states
	if n.full {
		e.clear()
		b.states = map[string]*keyState{}
	}
	for _, a := range n.accounts {
		if old := b.accounts[a.id]; old != nil && old.revision >= a.revision {
			continue
		}
		b.accounts[a.id] = a
		for _, hash := range b.keys[a.id] {
			moved := *e.find(hash)
			moved.account = a
			e.put(hash, &moved)
		}
	}
	for i := range n.keys {
		row := &n.keys[i]
		known := e.find(row.hash)
		if known != nil && known.revision >= row.revision {
			continue
		}
		holder := b.accounts[row.accountID]
		if holder == nil { // impossible: accounts are read after keys
			continue
		}
		g := row.cachedKey
		g.account = holder
		if g.ended(now) {
			e.drop(row.hash, &g)
			continue
		}
		if known == nil {
			b.keys[holder.id] = append(b.keys[holder.id], row.hash)
		}
		if g.state = memory[g.id]; g.state == nil {
			g.state = &keyState{buckets: buckets()}
		}
		b.states[g.id] = g.state
		g.state.hash = row.hash
		e.put(row.hash, &g)
	}
	e.publish()
	b.revision, b.loaded = n.revision, true
}

// cacheUpdate collects new versions of the cache's shards until publish makes them visible.
type cacheUpdate struct {
	cache  *keyCache
	shards map[byte]map[keyHash]*cachedKey
}

// clear removes all keys and accounts. The counters of accounts are kept elsewhere.
func (e *cacheUpdate) clear() {
	e.cache.ended.init()
	for i := range e.cache.shards {
		e.shards[byte(i)] = map[keyHash]*cachedKey{}
	}
	clear(e.cache.accounts)
	clear(e.cache.keys)
}

func (e *cacheUpdate) find(hash keyHash) *cachedKey {
	if shard, changed := e.shards[hash[0]]; changed {
		return shard[hash]
	}
	return e.cache.find(hash)
}

func (e *cacheUpdate) put(hash keyHash, g *cachedKey) { e.shard(hash)[hash] = g }

// shard returns the new version of the shard of a hash. The caller may change it.
func (e *cacheUpdate) shard(hash keyHash) map[keyHash]*cachedKey {
	shard, changed := e.shards[hash[0]]
	if !changed {
		shard = map[keyHash]*cachedKey{}
		if old := e.cache.shards[hash[0]].Load(); old != nil {
			shard = maps.Clone(*old)
		}
		e.shards[hash[0]] = shard
	}
	return shard
}

func (e *cacheUpdate) publish() {
	for i, shard := range e.shards {
		before := 0
		if old := e.cache.shards[i].Load(); old != nil {
			before = len(*old)
		}
		e.cache.size.Add(int64(len(shard) - before))
		e.cache.shards[i].Store(&shard)
	}
}
