package access

import (
	"context"
	"slices"

	"vayu/internal/sqlstore"
)

var (
	presentAccounts = sqlstore.Group(0, "SELECT id FROM account WHERE id IN (", "?", ")")
	presentKeys     = sqlstore.Group(0, "SELECT id FROM api_key WHERE id IN (", "?", ")")
)

// dropGone leaves out of a batch what no row of the store may refer to, because
// its account or its key has vanished: after somebody's own DELETE, or when an
// older store took the place of the known one. One such row would fail the
// writing of all accounts, for ever. It reports whether there was any: else the
// writing has failed for another reason. The caller holds ledger.writing.
func (s *Service) dropGone(ctx context.Context, b *batch) bool {
	accounts, keys := make([]string, len(b.days)), make([]string, len(b.keys))
	for i, d := range b.days {
		accounts[i] = d.account
	}
	for i, k := range b.keys {
		keys[i] = k.grant.id
	}
	view := s.DB.View(ctx)
	hasAccount, err := sqlstore.Present(view, &presentAccounts, accounts)
	if err != nil {
		return false
	}
	hasKey, err := sqlstore.Present(view, &presentKeys, keys)
	if err != nil {
		return false
	}
	// Copies: others look at the days of a batch.
	days := slices.DeleteFunc(slices.Clone(b.days), func(d *daily) bool { return !hasAccount[d.account] })
	uses := slices.DeleteFunc(slices.Clone(b.keys), func(k keyUse) bool { return !hasKey[k.grant.id] })
	dropped := len(b.days) - len(days) + len(b.keys) - len(uses)
	if dropped == 0 {
		return false
	}
	s.ledger.mu.Lock()
	b.days, b.keys = days, uses
	s.ledger.mu.Unlock()
	s.fill(b)
	s.metrics.dropped.Add(float64(dropped))
	s.Log.Warn("usage is dropped, because its accounts or keys are not in the store any more", "rows", dropped)
	s.book.distrust() // it still lets them in
	return true
}
