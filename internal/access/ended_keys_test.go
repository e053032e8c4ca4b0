package access

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// sizes are how many keys the book has, in each of its forms.
func (b *keyCache) sizes() map[string]int {
	b.mu.RLock()
	defer b.mu.RUnlock()
	hashes := 0
	for _, of := range b.keys {
		hashes += len(of)
	}
	return map[string]int{"shards": int(b.size.Load()), "memory": len(b.states), "keys": hashes}
}

func (s *site) wantSizes(t *testing.T, what string, n int) {
	t.Helper()
	if diff := cmp.Diff(map[string]int{"shards": n, "memory": n, "keys": n}, s.cache.sizes()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// Keys that are revoked leave the memory with their buckets, and are refused as revoked
// all the same, also by an instance that never had them.
func TestRevokedKeysLeaveTheBook(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newSite(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		kept := addKey(t, db, KeySpec{Account: acc})
		var all []Made
		for range 50 {
			all = append(all, addKey(t, db, KeySpec{Account: acc}))
		}
		s.look()
		for _, k := range all {
			s.get(k.Key, "")
		}
		s.wantSizes(t, "before", 51)
		do(t, db, func(tx *sqlstore.Tx) error {
			for _, k := range all {
				if _, _, err := RevokeKey(tx, k.Record.ID, time.Now()); err != nil {
					return err
				}
			}
			return nil
		})
		s.look()
		s.wantSizes(t, "after", 1)
		if got := s.figure("vayu_access_keys"); got != 1 {
			t.Errorf("vayu_access_keys is %v, want 1", got)
		}
		s.write() // their use is written all the same
		if got := one[int](t, db, "SELECT COUNT(*) FROM api_key_use"); got != 50 {
			t.Errorf("the use of %d keys is stored, want 50", got)
		}
		later := newSite(t, db, nil)
		later.look()
		later.wantSizes(t, "an instance that starts later", 1)
		for _, instance := range []*site{s, later} {
			for range 3 {
				instance.wants(all[0].Key, "", schema.KeyRevoked)
			}
			instance.wants(kept.Key, "", "")
			instance.wants(mintKey(schema.Live), "", schema.Unauthorized)
		}
	})
}

// Keys that have expired leave the memory within a minute.
func TestExpiredKeysLeaveTheBook(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newSite(t, db, nil)
		acc := addAccount(t, db, "one", "unlimited")
		kept, soon := addKey(t, db, KeySpec{Account: acc}), addKey(t, db, KeySpec{Account: acc, ExpiresAt: time.Now().Add(time.Hour)})
		s.clock.Set(time.Now())
		s.look()
		s.wantSizes(t, "before", 2)
		s.clock.Set(time.Now().Add(2 * time.Hour))
		s.wants(soon.Key, "", schema.KeyExpired)
		s.look()
		s.wantSizes(t, "after", 1)
		s.wants(soon.Key, "", schema.KeyExpired)
		s.wants(kept.Key, "", "")
		later := newSite(t, db, nil)
		later.clock.Set(time.Now().Add(2 * time.Hour))
		later.look()
		later.wants(soon.Key, "", schema.KeyExpired)
		later.wantSizes(t, "an instance that starts later", 1)
	})
}

// The memory of keys that have ended is bounded, and the latest are remembered.
func TestMemoryOfEndedKeysIsBounded(t *testing.T) {
	t.Parallel()
	var e endedKeys
	e.init()
	hash := func(i int) keyHash { return keyHash{byte(i), byte(i >> 8), byte(i >> 16)} }
	const more = 100
	for i := range endedMost + more {
		e.add(hash(i), &cachedKey{revokedAt: 1})
		e.add(hash(i), &cachedKey{revokedAt: 1})
	}
	if len(e.keys) != endedMost || len(e.oldest) != endedMost {
		t.Errorf("%d keys are remembered, want %d", len(e.keys), endedMost)
	}
	if e.find(hash(more-1), 2) != nil || e.find(hash(more), 2) == nil || e.find(hash(endedMost+more-1), 2) == nil {
		t.Error("the latest are not those that are remembered")
	}
	if e.find(hash(more), 0) != nil {
		t.Error("a key has ended before its time")
	}
}
