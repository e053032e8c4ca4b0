package access

import (
	"context"
	"crypto/sha256"
	"time"

	"vayu/internal/access/apikey"
	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Errors of keys that may not make calls.
var (
	errUnknownKey = schema.NewProblem(schema.Unauthorized, "", "The API key is unknown.")
	errRevokedKey = schema.NewProblem(schema.KeyRevoked, "", "The API key was revoked.")
	errExpiredKey = schema.NewProblem(schema.KeyExpired, "", "The API key has expired.")
)

// Rate (per second) and burst of the cache refreshes that calls with unknown keys cause. Such a refresh makes a new key
// usable at once. The limits protect the store from clients that guess keys.
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
	k, err := find(c, now)
	if err != nil {
		return nil, err
	}
	c.Principal = httpapi.Principal{World: k.world, Account: k.account.id, Key: k.id, Scopes: k.scopes}
	switch {
	case k.revokedAt != 0 && now.UnixMicro() >= k.revokedAt:
		return nil, errRevokedKey
	case k.expiresAt != 0 && now.UnixMicro() >= k.expiresAt:
		return nil, errExpiredKey
	}
	return k, nil
}

// keyOf returns the key in the Authorization header. A malformed key and an unknown key cause the same error.
func (s *Service) keyOf(c *httpapi.Call, _ time.Time) (*cachedKey, error) {
	key, err := httpapi.BearerKey(c.Request)
	if err != nil {
		return nil, err
	}
	if _, ok := apikey.WellFormed(key); ok {
		if k := s.findKey(c.Context(), apikey.Hash(key)); k != nil {
			return k, nil
		}
	}
	return nil, errUnknownKey
}

// findKey returns the key with a hash, or nil. The command line or another instance may have just created an unknown
// key. So findKey refreshes the cache (limited by lookupRate), and looks for a revoked or expired key in the store. It
// does neither if the last refresh failed, because each call with a wrong key would then wait for the timeout.
func (s *Service) findKey(ctx context.Context, hash [sha256.Size]byte) *cachedKey {
	if k := s.cache.find(hash); k != nil {
		return k
	}
	if k := s.cache.ended.find(hash, s.Now().UnixMicro()); k != nil {
		return k
	}
	if s.follower.Failing() || !s.lookups.Allow() || s.Refresh(ctx) != nil {
		return nil
	}
	if k := s.cache.find(hash); k != nil {
		return k
	}
	limit, done := context.WithTimeout(ctx, s.follower.Timeout)
	defer done()
	k, err := s.findEnded(limit, selectEndedByHash, hash[:])
	if err != nil {
		s.metrics.refreshFailures.Inc()
	}
	return k
}

// keyOfSession returns the API key of a browser's session in the session's current mode (live or sandbox).
func (s *Service) keyOfSession(c *httpapi.Call, now time.Time) (*cachedKey, error) {
	limit, done := context.WithTimeout(c.Context(), s.follower.Timeout)
	defer done()
	id, key, err := session.Find(s.DB.View(limit), c, now)
	if err != nil {
		return nil, err
	}
	k := s.cache.byID(key)
	if k == nil { // another instance may have just created the key
		if err = s.Refresh(limit); err == nil {
			if k = s.cache.byID(key); k == nil {
				k, err = s.findEnded(limit, selectEndedByID, key)
			}
		}
	}
	switch {
	case err != nil:
		return nil, schema.Unavailable("API keys cannot be checked at the moment. Retry later.", err)
	case k == nil:
		return nil, session.ErrEnded
	}
	c.Session = id
	return k, nil
}
