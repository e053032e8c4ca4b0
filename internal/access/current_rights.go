package access

import (
	"context"
	"fmt"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Scopes returns the current scopes of the key of an admitted call. It returns none if the key was revoked or
// has expired, or no longer allows the call's address. It needs no query. Changes by other instances take
// effect within a quarter of a second.
func (s *Service) Scopes(c *httpapi.Call) []schema.Scope {
	g := s.cache.byID(c.Key)
	if g == nil {
		return nil
	}
	now := s.Now().UnixMicro()
	if g.ended(now) || !allows(g.account.allow, c.Client) || !allows(g.allow, c.Client) {
		return nil
	}
	var out []schema.Scope
	for _, scope := range schema.Scopes {
		if g.scopes.Has(scope) {
			out = append(out, scope)
		}
	}
	return out
}

// selectSessions selects the sessions that have not ended.
var selectSessions = sqlstore.NewBatchStatement(1, "SELECT id FROM session WHERE expires_at > $1 AND id IN (", "?", ")")

// SessionsEnded reports, for each call of a browser session, whether that session has ended. It needs one query
// for all calls.
func (s *Service) SessionsEnded(ctx context.Context, calls []*httpapi.Call) ([]bool, error) {
	on, view, now := map[string]bool{}, s.DB.View(ctx), s.Now().UnixMicro()
	err := selectSessions.Each(len(calls), func(text string, from, to int) error {
		args := []any{now}
		for _, c := range calls[from:to] {
			args = append(args, c.Session)
		}
		return sqlstore.Each(view, func(row sqlstore.Scanner) error {
			id, err := scanText(row)
			on[id] = true
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("reading sessions: %w", err)
	}
	over := make([]bool, len(calls))
	for i, c := range calls {
		over[i] = !on[c.Session]
	}
	return over, nil
}
