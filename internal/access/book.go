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

// held is one account in memory, as its row was. It never changes: a changed
// row makes a new one.
type held struct {
	id        string
	name      string
	plan      string
	limit     int64          // calls per month of the plan; 0 for no limit
	allow     []netip.Prefix // empty for every address
	createdAt int64          // microseconds
	revision  int64
	tally     *tally // the same for every held of the account
}

// grant is one key in memory, as its row was, with its account. It never
// changes but in what memory points at.
type grant struct {
	id               string
	account          *held
	world            schema.World
	name             string
	scopes           schema.ScopeSet
	allow            []netip.Prefix // empty for every address
	requireSignature bool
	signingSecret    []byte // sealed
	expiresAt        int64  // microseconds; 0 for never
	revokedAt        int64  // microseconds; 0 for not
	revision         int64
	memory           *keyMemory // the same for every grant of the key
}

// ended reports whether the key is revoked or expired at a time, in microseconds.
func (g *grant) ended(now int64) bool {
	return g.revokedAt != 0 && now >= g.revokedAt || g.expiresAt != 0 && now >= g.expiresAt
}

// keyMemory is what this process remembers of a key while it is in the book, whatever
// becomes of its row.
type keyMemory struct {
	hash    keyHash // of the key; guarded by the book's lock
	buckets [httpapi.LimitClasses]*bucket
	usedAt  atomic.Int64 // seconds
	dirty   atomic.Bool  // usedAt is to be written
}

// keyHash is the SHA-256 of a key, by which it is known.
type keyHash [sha256.Size]byte

// shardCount keeps what a change must copy small: with 100,000 keys a shard has
// 400.
const shardCount = 256

// book is every account, and every key that is neither revoked nor expired. Looking a
// key up takes no lock: a shard is a map that is replaced and never changed.
type book struct {
	shards [shardCount]atomic.Pointer[map[keyHash]*grant]
	size   atomic.Int64
	ended  endedKeys

	mu       sync.RWMutex // of what follows, and of replacing shards
	begun    bool         // it was read once
	revision int64        // everything up to it is known
	accounts map[string]*held
	keys     map[string][]keyHash // of each account
	memory   map[string]*keyMemory
}

func (b *book) init() {
	b.accounts = map[string]*held{}
	b.keys = map[string][]keyHash{}
	b.memory = map[string]*keyMemory{}
	b.ended.init()
}

// find returns the key of a hash; nil when there is none.
func (b *book) find(hash keyHash) *grant {
	shard := b.shards[hash[0]].Load()
	if shard == nil {
		return nil
	}
	return (*shard)[hash]
}

// byID returns the key of an id; nil when there is none. It is asked for calls of
// browsers, which read a row of the store as well: the lock is the lesser part.
func (b *book) byID(id string) *grant {
	b.mu.RLock()
	defer b.mu.RUnlock()
	memory := b.memory[id]
	if memory == nil {
		return nil
	}
	return b.find(memory.hash)
}

// account returns an account by its id; nil when there is none.
func (b *book) account(id string) *held {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.accounts[id]
}

// at returns the revision up to which everything is known, and whether anything
// was read at all.
func (b *book) at() (revision int64, begun bool) {
	b.mu.RLock()
	defer b.mu.RUnlock()
	return b.revision, b.begun
}

// distrust has the next look read everything anew.
func (b *book) distrust() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.revision = math.MaxInt64 // so that the store's lies before it
}

// keyRow is a row of api_key as it was read.
type keyRow struct {
	grant

	accountID string
	hash      keyHash
}

// news is what a look at the store brought.
type news struct {
	revision int64
	// whole says that everything was read: what is not there is gone.
	whole    bool
	accounts []*held
	keys     []keyRow
}

// take brings news into the book. Rows that are known already, or in a newer
// form, change nothing. Keys that have ended at now, in microseconds, leave the book.
func (b *book) take(n news, now int64, buckets func() [httpapi.LimitClasses]*bucket) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := edition{book: b, shards: map[byte]map[keyHash]*grant{}}
	memory := b.memory
	if n.whole {
		e.clear()
		b.memory = map[string]*keyMemory{}
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
		if holder == nil { // cannot be: accounts are read after keys
			continue
		}
		g := row.grant
		g.account = holder
		if g.ended(now) {
			e.drop(row.hash, &g)
			continue
		}
		if known == nil {
			b.keys[holder.id] = append(b.keys[holder.id], row.hash)
		}
		if g.memory = memory[g.id]; g.memory == nil {
			g.memory = &keyMemory{buckets: buckets()}
		}
		b.memory[g.id] = g.memory
		g.memory.hash = row.hash
		e.put(row.hash, &g)
	}
	e.publish()
	b.revision, b.begun = n.revision, true
}

// edition is a new form of a book's shards, until it is published.
type edition struct {
	book   *book
	shards map[byte]map[keyHash]*grant
}

// clear drops everything but what accounts have used.
func (e *edition) clear() {
	e.book.ended.init()
	for i := range e.book.shards {
		e.shards[byte(i)] = map[keyHash]*grant{}
	}
	clear(e.book.accounts)
	clear(e.book.keys)
}

func (e *edition) find(hash keyHash) *grant {
	if shard, changed := e.shards[hash[0]]; changed {
		return shard[hash]
	}
	return e.book.find(hash)
}

func (e *edition) put(hash keyHash, g *grant) { e.shard(hash)[hash] = g }

// shard is the new form of the shard of a hash.
func (e *edition) shard(hash keyHash) map[keyHash]*grant {
	shard, changed := e.shards[hash[0]]
	if !changed {
		shard = map[keyHash]*grant{}
		if old := e.book.shards[hash[0]].Load(); old != nil {
			shard = maps.Clone(*old)
		}
		e.shards[hash[0]] = shard
	}
	return shard
}

func (e *edition) publish() {
	for i, shard := range e.shards {
		before := 0
		if old := e.book.shards[i].Load(); old != nil {
			before = len(*old)
		}
		e.book.size.Add(int64(len(shard) - before))
		e.book.shards[i].Store(&shard)
	}
}
