package access

import (
	"crypto/sha256"
	"math"
	"net/netip"
	"sync"
	"sync/atomic"

	"vayu/internal/access/quota"
	"vayu/internal/tablecache"
	"vayu/schema"
)

// cachedAccount is an account in the cache. It is immutable: a changed row is a new cachedAccount.
type cachedAccount struct {
	id       string
	plan     string
	allow    []netip.Prefix // empty for every address
	revision int64
	usage    *quota.Account // shared by all versions of the account
	buckets  *worldBuckets  // shared by all versions of the account
}

// cachedKey is a key in the cache, with its account. It is immutable, except for the token buckets in state.
type cachedKey struct {
	id               string
	account          *cachedAccount
	world            schema.World
	scopes           schema.ScopeSet
	allow            []netip.Prefix // empty for every address
	requireSignature bool
	signingSecret    []byte // encrypted
	expiresAt        int64  // microseconds; 0 for never
	revokedAt        int64  // microseconds; 0 if not revoked
	revision         int64
	state            *keyState // shared by all versions of the key
}

// ended reports whether the key is revoked or expired at the time `now`, in microseconds.
func (k *cachedKey) ended(now int64) bool {
	return k.revokedAt != 0 && now >= k.revokedAt || k.expiresAt != 0 && now >= k.expiresAt
}

// keyState has the token buckets of a cached key. A refresh of the key's row does not change the buckets.
type keyState struct {
	hash    keyHash // hash of the key; guarded by keyCache.mu
	buckets classBuckets
}

// keyHash is the SHA-256 of a key. The cache and the store find a key by this hash.
type keyHash [sha256.Size]byte

// keyMap maps the hash of a key to the cached key.
type keyMap = tablecache.Map[keyHash, *cachedKey]

// keyCache caches every account and every valid key. The method sweep removes ended keys. Lookups by hash take no lock.
type keyCache struct {
	byHash atomic.Pointer[keyMap]
	ended  endedKeys

	mu       sync.RWMutex // guards the fields below, and the replacement of byHash
	loaded   bool         // the cache was loaded at least once
	revision int64        // all changes up to this revision are applied
	accounts map[string]*cachedAccount
	keys     map[string][]keyHash // by account id
	states   map[string]*keyState // by key id
}

func (c *keyCache) init() {
	c.accounts = map[string]*cachedAccount{}
	c.keys = map[string][]keyHash{}
	c.states = map[string]*keyState{}
}

// find returns the key with a hash, or nil.
func (c *keyCache) find(hash keyHash) *cachedKey { return c.byHash.Load().Get(hash) }

// byID returns the key with an id, or nil. It takes a lock, unlike find.
func (c *keyCache) byID(id string) *cachedKey {
	c.mu.RLock()
	defer c.mu.RUnlock()
	state := c.states[id]
	if state == nil {
		return nil
	}
	return c.find(state.hash)
}

// account returns an account by its id, or nil.
func (c *keyCache) account(id string) *cachedAccount {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.accounts[id]
}

// loadedRevision returns the last applied revision. The result `begun` is false if the cache has never been loaded.
func (c *keyCache) loadedRevision() (revision int64, begun bool) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.revision, c.loaded
}

// invalidate makes the next refresh read all rows again.
func (c *keyCache) invalidate() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision = math.MaxInt64 // larger than the revision of the store, so that the next refresh is full
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
	// full means that all rows were read. apply then removes the cached entries that have no row.
	full     bool
	accounts []*cachedAccount
	keys     []keyRow
}

// apply adds a delta to the cache; a full delta replaces the cache. It ignores a row that is not newer than its cached
// entry. It removes the keys of the delta that have ended at `now`, in microseconds.
func (c *keyCache) apply(n delta, now int64, limits Settings) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byHash := c.byHash.Load().Edit()
	states, known := c.states, c.accounts
	if n.full {
		byHash = (*keyMap)(nil).Edit()
		c.init()
		c.ended.Purge()
	}
	for _, a := range n.accounts {
		if old := c.accounts[a.id]; old != nil && old.revision >= a.revision {
			continue
		}
		if old := known[a.id]; old != nil {
			a.buckets = old.buckets
		} else {
			a.buckets = limits.newWorldBuckets()
		}
		a.usage.SetPlan(a.plan)
		c.accounts[a.id] = a
		for _, hash := range c.keys[a.id] {
			moved := *byHash.Get(hash)
			moved.account = a
			byHash.Put(hash, &moved)
		}
	}
	for i := range n.keys {
		row := &n.keys[i]
		known := byHash.Get(row.hash)
		if known != nil && known.revision >= row.revision {
			continue
		}
		holder := c.accounts[row.accountID]
		if holder == nil { // impossible: accounts are read after keys, so the account of each key is known
			continue
		}
		k := row.cachedKey
		k.account = holder
		if k.ended(now) {
			c.drop(byHash, row.hash, &k)
			continue
		}
		if known == nil {
			c.keys[holder.id] = append(c.keys[holder.id], row.hash)
		}
		if k.state = states[k.id]; k.state == nil {
			k.state = &keyState{buckets: limits.newBuckets(1)}
		}
		c.states[k.id] = k.state
		k.state.hash = row.hash
		byHash.Put(row.hash, &k)
	}
	c.byHash.Store(byHash.Map())
	c.revision, c.loaded = n.revision, true
}
