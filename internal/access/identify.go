package access

import (
	"context"
	"crypto/sha256"
	"time"

	"vayu/internal/access/apikey"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/internal/tablecache"
	"vayu/schema"
)

// Errors of keys that may not make calls.
var (
	errUnknownKey = schema.NewProblem(schema.Unauthorized, "", "The API key is unknown.")
	errRevokedKey = schema.NewProblem(schema.KeyRevoked, "", "The API key was revoked.")
	errExpiredKey = schema.NewProblem(schema.KeyExpired, "", "The API key has expired.")
)

// Rate (per second) and burst of refreshes for unknown keys. Such a refresh makes a new key usable at once. The
// rate is limited to protect the store from clients that guess keys.
const (
	lookupRate  = 20
	lookupBurst = 5
)

// identify finds the key of a call and sets the call's principal. It fails if the key is revoked or has expired.
func (s *Service) identify(c *httpapi.Call, now time.Time) (*cachedKey, error) {
	find := s.keyOf
	if c.BySession {
		find = s.keyOfSession
	}
	g, err := find(c, now)
	if err != nil {
		return nil, err
	}
	c.Principal = httpapi.Principal{World: g.world, Account: g.account.id, Key: g.id, Scopes: g.scopes}
	switch {
	case g.revokedAt != 0 && now.UnixMicro() >= g.revokedAt:
		return nil, errRevokedKey
	case g.expiresAt != 0 && now.UnixMicro() >= g.expiresAt:
		return nil, errExpiredKey
	}
	return g, nil
}

// keyOf returns the key in the Authorization header. A malformed key and an unknown key cause the same error.
func (s *Service) keyOf(c *httpapi.Call, _ time.Time) (*cachedKey, error) {
	key, err := httpapi.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	if _, ok := apikey.WellFormed(key); ok {
		if g := s.findKey(c.Context(), apikey.Hash(key)); g != nil {
			return g, nil
		}
	}
	return nil, errUnknownKey
}

// findKey returns the key with a hash, or nil. The command line or another instance may have just created an
// unknown key, so findKey refreshes the cache, limited by lookupRate. If the last refresh failed, findKey does
// not refresh, because every call with a wrong key would then wait for the timeout.
func (s *Service) findKey(ctx context.Context, hash [sha256.Size]byte) *cachedKey {
	if g := s.cache.find(hash); g != nil {
		return g
	}
	if g := s.cache.ended.find(hash, s.Now().UnixMicro()); g != nil {
		return g
	}
	if s.follower.Failing() || !s.lookups.Allow() || s.Refresh(ctx) != nil {
		return nil
	}
	if g := s.cache.find(hash); g != nil {
		return g
	}
	limit, done := context.WithTimeout(ctx, tablecache.Timeout)
	defer done()
	g, err := s.findEnded(limit, selectEndedByHash, hash[:])
	if err != nil {
		s.metrics.refreshFailures.Inc()
	}
	return g
}

// keyOfSession returns the API key that a browser's session was created with.
func (s *Service) keyOfSession(c *httpapi.Call, now time.Time) (*cachedKey, error) {
	limit, done := context.WithTimeout(c.Context(), tablecache.Timeout)
	defer done()
	id, key, err := session.Find(s.DB.View(limit), c, now)
	if err != nil {
		return nil, err
	}
	g := s.cache.byID(key)
	if g == nil { // another instance may have just created the key
		if err = s.Refresh(limit); err == nil {
			if g = s.cache.byID(key); g == nil {
				g, err = s.findEnded(limit, selectEndedByID, key)
			}
		}
	}
	switch {
	case err != nil:
		return nil, schema.Unavailable("API keys cannot be checked at the moment. Retry later.", err)
	case g == nil:
		return nil, session.ErrEnded
	}
	c.Session = id
	return g, nil
}
