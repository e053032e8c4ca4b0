package account

import (
	"context"
	"crypto/sha256"
	"fmt"

	"vayu/internal/api"
	"vayu/internal/state"
	"vayu/schema"
)

// Scopes is what the key of a call that was admitted before may do now, from the
// address that the call came from; nothing when the key was revoked or has expired
// since, or is not let in from there any more. It costs no query: what was changed
// elsewhere shows within a quarter of a second.
func (s *Service) Scopes(c *api.Call) []schema.Scope {
	g := s.book.key(c.Account, c.Key)
	if g == nil {
		return nil
	}
	now := s.Now().UnixMicro()
	if g.revokedAt != 0 && now >= g.revokedAt || g.expiresAt != 0 && now >= g.expiresAt ||
		!allows(g.account.allow, c.Client) || !allows(g.allow, c.Client) {
		return nil
	}
	var out []schema.Scope
	for _, scope := range schema.Scopes {
		if g.scopes&scopeBit(string(scope)) != 0 {
			out = append(out, scope)
		}
	}
	return out
}

// key returns a key of an account by its id; nil when there is none.
func (b *book) key(account, id string) *grant {
	b.mu.RLock()
	defer b.mu.RUnlock()
	for _, hash := range b.keys[account] {
		if g := b.find(hash); g != nil && g.id == id {
			return g
		}
	}
	return nil
}

// cookiesMost is in how many of a call's cookies its session is looked for.
const cookiesMost = 16

// selectSessions finds which of some tokens are of sessions that go on, and whose.
var selectSessions = state.Group(1, "SELECT hash, key_id FROM session WHERE expires_at > $1 AND hash IN (", "?", ")")

// Ended says of each of some calls, which were admitted by sessions, whether its
// session has ended since. It is one query for a few calls together.
func (s *Service) Ended(ctx context.Context, calls []*api.Call) ([]bool, error) {
	type way struct {
		hash keyHash
		key  string
	}
	var all []keyHash
	hashes := make([][]keyHash, len(calls))
	for i, c := range calls {
		cookies := c.Cookies()
		for _, cookie := range cookies[:min(len(cookies), cookiesMost)] {
			hashes[i] = append(hashes[i], sha256.Sum256([]byte(cookie.Value)))
		}
		all = append(all, hashes[i]...)
	}
	good, view, now := map[way]bool{}, s.DB.View(ctx), s.Now().UnixMicro()
	err := selectSessions.Each(len(all), func(text string, from, to int) error {
		args := []any{now}
		for i := range all[from:to] {
			args = append(args, all[from+i][:])
		}
		return state.Each(view, func(row state.Scanner) error {
			var hash []byte
			var key string
			err := row.Scan(&hash, &key)
			if len(hash) == len(keyHash{}) {
				good[way{keyHash(hash), key}] = true
			}
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("looking for sessions: %w", err)
	}
	over := make([]bool, len(calls))
	for i, c := range calls {
		over[i] = true
		for _, hash := range hashes[i] {
			if good[way{hash, c.Key}] {
				over[i] = false
			}
		}
	}
	return over, nil
}
