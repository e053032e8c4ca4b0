package access

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// sweepEvery is how often keys that have expired leave the book. Until then they
	// are refused by their time.
	sweepEvery = time.Minute
	// endedMost bounds the memory of ended keys to about a megabyte.
	endedMost = 4096
)

// endedKeys are revoked and expired keys that left the book, the latest of them: clients that
// still use one are told why it is refused without a look at the store. Of a key that is not
// among them the store knows why.
type endedKeys struct {
	mu     sync.Mutex
	keys   map[keyHash]*grant // without memory, scopes and allow-lists
	oldest []keyHash          // a ring
	next   int
}

func (e *endedKeys) init() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.keys, e.oldest, e.next = map[keyHash]*grant{}, nil, 0
}

// add remembers a key that has ended, and forgets the oldest when there are too many.
func (e *endedKeys) add(hash keyHash, g *grant) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, known := e.keys[hash]; !known {
		if len(e.oldest) < endedMost {
			e.oldest = append(e.oldest, hash)
		} else {
			delete(e.keys, e.oldest[e.next])
			e.oldest[e.next] = hash
			e.next = (e.next + 1) % endedMost
		}
	}
	e.keys[hash] = &grant{id: g.id, account: g.account, world: g.world, expiresAt: g.expiresAt, revokedAt: g.revokedAt}
}

// find returns a key that has ended at a time, in microseconds; nil when it is not
// known to have.
func (e *endedKeys) find(hash keyHash, now int64) *grant {
	e.mu.Lock()
	defer e.mu.Unlock()
	if g := e.keys[hash]; g != nil && g.ended(now) {
		return g
	}
	return nil
}

// drop takes a key that has ended out of the book, with its buckets.
func (e *edition) drop(hash keyHash, g *grant) {
	b := e.book
	b.ended.add(hash, g)
	delete(b.memory, g.id)
	if e.find(hash) == nil {
		return
	}
	delete(e.shard(hash), hash)
	b.keys[g.account.id] = slices.DeleteFunc(b.keys[g.account.id], func(h keyHash) bool { return h == hash })
}

// sweep takes keys that have expired at a time, in microseconds, out of the book.
func (b *book) sweep(now int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := edition{book: b, shards: map[byte]map[keyHash]*grant{}}
	for i := range b.shards {
		shard := b.shards[i].Load()
		if shard == nil {
			continue
		}
		for hash, g := range *shard {
			if g.ended(now) {
				e.drop(hash, g)
			}
		}
	}
	e.publish()
}

// sweep is that of the book, when it is due. The caller holds looking.
func (s *Service) sweep() {
	if now := s.Now(); now.Sub(s.sweptAt).Abs() >= sweepEvery {
		s.sweptAt = now
		s.book.sweep(now.UnixMicro())
	}
}

const (
	selectEndedByHash = selectEnded + "hash = $1 AND (revoked_at <= $2 OR expires_at <= $2)"
	selectEndedByID   = selectEnded + "id = $1 AND (revoked_at <= $2 OR expires_at <= $2)"
	selectEnded       = "SELECT id, account_id, mode, hash, COALESCE(expires_at, 0), COALESCE(revoked_at, 0) FROM api_key WHERE "
)

// seekEnded asks the store for a key that has ended, which the book does not have; nil
// when there is none.
func (s *Service) seekEnded(ctx context.Context, query string, of any) (*grant, error) {
	var g grant
	var accountID, mode string
	var stored []byte
	now := s.Now().UnixMicro()
	err := s.DB.View(ctx).QueryRow(query, of, now).Scan(&g.id, &accountID, &mode, &stored, &g.expiresAt, &g.revokedAt)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("looking for a key that has ended: %w", err)
	}
	if g.account = s.book.account(accountID); g.account == nil {
		return nil, nil
	}
	g.world = schema.WorldOf(mode)
	var hash keyHash
	copy(hash[:], stored)
	s.book.ended.add(hash, &g)
	return s.book.ended.find(hash, now), nil
}

// selectKeys reads the keys that were changed since a revision. Who reads all of them,
// since 0, needs no revoked ones.
const selectKeys = `SELECT id, account_id, mode, name, hash, scopes, allow_list, require_signature, signing_secret,
		COALESCE(expires_at, 0), COALESCE(revoked_at, 0), revision
	FROM api_key WHERE revision > $1 AND ($1 > 0 OR revoked_at IS NULL)`

// changedKeys reads the keys that were changed since a revision.
func (s *Service) changedKeys(view sqlstore.View, since int64) ([]keyRow, error) {
	return sqlstore.All(view, s.scanKey, selectKeys, since)
}
