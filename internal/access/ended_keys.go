package access

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"vayu/internal/sqlstore"
	"vayu/internal/tablecache"
	"vayu/schema"
)

const (
	// sweepEvery is the interval between removals of ended keys. An ended key is rejected even before its removal.
	sweepEvery = time.Minute
	// endedMost is the largest number of remembered ended keys, which need about a megabyte.
	endedMost = 4096
)

// endedKeys remembers up to endedMost revoked or expired keys. If there are more, it discards the least recently used
// one. A call with a remembered key gets the right error (revoked or expired) without a query. An ended key that is not
// remembered is looked up in the store.
type endedKeys struct {
	*lru.Cache[keyHash, *cachedKey] // values have no state, scopes or allow-list
}

func newEndedKeys() endedKeys {
	all, _ := lru.New[keyHash, *cachedKey](endedMost) // fails for a size of 0 only
	return endedKeys{all}
}

func (e endedKeys) add(hash keyHash, k *cachedKey) {
	e.Add(hash, &cachedKey{id: k.id, account: k.account, world: k.world, expiresAt: k.expiresAt, revokedAt: k.revokedAt})
}

// find returns the remembered key with a hash if it has ended at the time `now`, in microseconds, and otherwise nil.
func (e endedKeys) find(hash keyHash, now int64) *cachedKey {
	if k, _ := e.Get(hash); k != nil && k.ended(now) {
		return k
	}
	return nil
}

// drop moves an ended key from the cache to endedKeys, and removes the key's rate-limit buckets. c.mu must be locked.
func (c *keyCache) drop(byHash *tablecache.Draft[keyHash, *cachedKey], hash keyHash, k *cachedKey) {
	c.ended.add(hash, k)
	delete(c.states, k.id)
	if byHash.Get(hash) == nil {
		return
	}
	byHash.Delete(hash)
	c.keys[k.account.id] = slices.DeleteFunc(c.keys[k.account.id], func(h keyHash) bool { return h == hash })
}

// sweep removes from the cache the keys that have ended at the time `now`, in microseconds.
func (c *keyCache) sweep(now int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	keys := c.byHash.Load()
	byHash := keys.Edit()
	for hash, k := range keys.All() {
		if k.ended(now) {
			c.drop(byHash, hash, k)
		}
	}
	c.byHash.Store(byHash.Map())
}

// sweep removes ended keys from the cache if the last removal was at least sweepEvery ago.
func (s *Service) sweep(now time.Time) {
	if now.Sub(s.sweptAt).Abs() >= sweepEvery {
		s.sweptAt = now
		s.cache.sweep(now.UnixMicro())
	}
}

const (
	selectEndedByHash = selectEnded + "hash = $1 AND (revoked_at <= $2 OR expires_at <= $2)"
	selectEndedByID   = selectEnded + "id = $1 AND (revoked_at <= $2 OR expires_at <= $2)"
	selectEnded       = "SELECT id, account_id, mode, hash, COALESCE(expires_at, 0), COALESCE(revoked_at, 0) FROM api_key WHERE "
)

// findEnded reads an ended key by its hash or id, and adds it to endedKeys. It returns nil if the store has no such
// ended key, or if the cache does not have the account of the key.
func (s *Service) findEnded(ctx context.Context, query string, of any) (*cachedKey, error) {
	var k cachedKey
	var accountID, mode string
	var stored []byte
	now := s.Now().UnixMicro()
	err := s.DB.View(ctx).QueryRow(query, of, now).Scan(&k.id, &accountID, &mode, &stored, &k.expiresAt, &k.revokedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading an ended key: %w", err)
	}
	if k.account = s.cache.account(accountID); k.account == nil {
		return nil, nil
	}
	k.world = schema.WorldOf(mode)
	var hash keyHash
	copy(hash[:], stored)
	s.cache.ended.add(hash, &k)
	return s.cache.ended.find(hash, now), nil
}

// selectKeys reads the keys that were changed after revision $1. For revision 0, it reads all keys except revoked ones.
const selectKeys = `SELECT id, account_id, mode, hash, scopes, allow_list, require_signature, signing_secret,
		COALESCE(expires_at, 0), COALESCE(revoked_at, 0), revision
	FROM api_key WHERE revision > $1 AND ($1 > 0 OR revoked_at IS NULL)`

// changedKeys returns the keys that selectKeys selects: those that were changed after the revision `since`.
func (s *Service) changedKeys(view sqlstore.View, since int64) ([]keyRow, error) {
	return sqlstore.All(view, s.scanKey, selectKeys, since)
}
