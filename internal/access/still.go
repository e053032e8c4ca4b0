package access

import (
	"context"
	"fmt"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// Scopes is what the key of a call that was admitted before may do now, from the
// address that the call came from; nothing when the key was revoked or has expired
// since, or is not let in from there any more. It costs no query: what was changed
// elsewhere shows within a quarter of a second.
func (s *Service) Scopes(c *httpapi.Call) []schema.Scope {
	g := s.book.byID(c.Key)
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

// selectSessions finds which of some sessions go on.
var selectSessions = sqlstore.Group(1, "SELECT id FROM session WHERE expires_at > $1 AND id IN (", "?", ")")

// Ended says of each of some calls, which were admitted by sessions, whether its
// session has ended since. It is one query for some calls together.
func (s *Service) Ended(ctx context.Context, calls []*httpapi.Call) ([]bool, error) {
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
		return nil, fmt.Errorf("looking for sessions that have ended: %w", err)
	}
	over := make([]bool, len(calls))
	for i, c := range calls {
		over[i] = !on[c.Session]
	}
	return over, nil
}
