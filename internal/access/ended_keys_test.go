package access

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// sizes returns the number of keys in each map of the cache.
func (c *keyCache) sizes() map[string]int {
	c.mu.RLock()
	defer c.mu.RUnlock()
	hashes := 0
	for _, of := range c.keys {
		hashes += len(of)
	}
	return map[string]int{"shards": c.byHash.Load().Len(), "memory": len(c.states), "keys": hashes}
}

func (s *serviceFixture) wantSizes(t *testing.T, what string, n int) {
	t.Helper()
	if diff := cmp.Diff(map[string]int{"shards": n, "memory": n, "keys": n}, s.cache.sizes()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Revoked keys are removed from the cache with their buckets. They are still rejected as revoked,
// also by an instance that never cached them.
func TestRevokedKeysLeaveTheCache(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		kept := addKey(t, db, apikey.Spec{Account: acc})
		var all []apikey.Created
		for range 50 {
			all = append(all, addKey(t, db, apikey.Spec{Account: acc}))
		}
		s.refresh()
		for _, k := range all {
			s.get(k.Key, "")
		}
		s.wantSizes(t, "before", 51)
		sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
			for _, k := range all {
				if _, _, err := apikey.Revoke(tx, k.Record.ID, time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		s.refresh()
		s.wantSizes(t, "after", 1)
		if got := fixture.MetricValue(s.t, s.reg, "vayu_access_keys"); got != 1 {
			t.Errorf("vayu_access_keys is %v, want 1", got)
		}
		s.write() // their use is written all the same
		if got := sqlstoretest.Value[int](t, db, "SELECT COUNT(*) FROM api_key_use"); got != 50 {
			t.Errorf("the use of %d keys is stored, want 50", got)
		}
		later := newServiceFixture(t, db, nil)
		later.refresh()
		later.wantSizes(t, "an instance that starts later", 1)
		for _, instance := range []*serviceFixture{s, later} {
			for range 3 {
				instance.wants(all[0].Key, "", schema.KeyRevoked)
			}
			instance.wants(kept.Key, "", "")
			instance.wants(apikey.Mint(schema.Live), "", schema.Unauthorized)
		}
	})
}

// Expired keys are removed from the cache within a minute.
func TestExpiredKeysLeaveTheCache(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newServiceFixture(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		kept, soon := addKey(t, db, apikey.Spec{Account: acc}), addKey(t, db, apikey.Spec{Account: acc, ExpiresAt: time.Now().Add(time.Hour)})
		s.clock.Set(time.Now())
		s.refresh()
		s.wantSizes(t, "before", 2)
		s.clock.Set(time.Now().Add(2 * time.Hour))
		s.wants(soon.Key, "", schema.KeyExpired)
		s.refresh()
		s.wantSizes(t, "after", 1)
		s.wants(soon.Key, "", schema.KeyExpired)
		s.wants(kept.Key, "", "")
		later := newServiceFixture(t, db, nil)
		later.clock.Set(time.Now().Add(2 * time.Hour))
		later.refresh()
		later.wants(soon.Key, "", schema.KeyExpired)
		later.wantSizes(t, "an instance that starts later", 1)
	})
}

// The memory of ended keys is bounded, and keeps the latest ones.
func TestMemoryOfEndedKeysIsBounded(t *testing.T) {
	t.Parallel()
	e := newEndedKeys()
	hash := func(i int) keyHash { return keyHash{byte(i), byte(i >> 8), byte(i >> 16)} }
	const more = 100
	for i := range endedMost + more {
		e.add(hash(i), &cachedKey{revokedAt: 1})
		e.add(hash(i), &cachedKey{revokedAt: 1})
	}
	if e.Len() != endedMost {
		t.Errorf("%d keys are remembered, want %d", e.Len(), endedMost)
	}
	for i, want := range map[int]bool{more - 1: false, more: true, endedMost + more - 1: true} {
		if got := e.find(hash(i), 2) != nil; got != want {
			t.Errorf("key %d is remembered: %v, want %v", i, got, want)
		}
	}
	if e.find(hash(more), 0) != nil {
		t.Error("a key has ended before its time")
	}
}
