package access

import (
	"context"

	"vayu/internal/access/session"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// Scopes returns the current scopes of the key of an admitted call. It returns nil if the key was revoked or has
// expired, or if an allow-list of the key or account excludes the call's address. Scopes reads the cache, not the
// store. A change that another instance makes takes effect within a second.
func (s *Service) Scopes(c *httpapi.Call) []schema.Scope {
	k := s.cache.byID(c.Key)
	if k == nil {
		return nil
	}
	now := s.Now().UnixMicro()
	if k.ended(now) || !allows(k.account.allow, c.Client) || !allows(k.allow, c.Client) {
		return nil
	}
	var out []schema.Scope
	for _, scope := range schema.Scopes {
		if k.scopes.Has(scope) {
			out = append(out, scope)
		}
	}
	return out
}

// SessionsEnded reports, for each call of a browser session, whether that session has ended. All calls must be calls of
// sessions. One query reads several sessions.
func (s *Service) SessionsEnded(ctx context.Context, calls []*httpapi.Call) ([]bool, error) {
	return session.Ended(s.DB.View(ctx), calls, s.Now())
}
