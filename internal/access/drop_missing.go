package access

import (
	"context"
	"slices"

	"vayu/internal/sqlstore"
)

var (
	presentAccounts = sqlstore.NewBatchStatement(0, "SELECT id FROM account WHERE id IN (", "?", ")")
	presentKeys     = sqlstore.NewBatchStatement(0, "SELECT id FROM api_key WHERE id IN (", "?", ")")
)

// dropMissing removes the usage of deleted accounts and keys from a batch. Rows are missing after a manual
// DELETE, or after a restore of an older store. One of them would make every flush fail, for all accounts.
// dropMissing reports whether it removed any; otherwise the flush failed for another reason. The caller holds
// usageCounters.flushing.
func (s *Service) dropMissing(ctx context.Context, b *batch) bool {
	accounts, keys := make([]string, len(b.days)), make([]string, len(b.keys))
	for i, d := range b.days {
		accounts[i] = d.account
	}
	for i, k := range b.keys {
		keys[i] = k.key.id
	}
	view := s.DB.View(ctx)
	hasAccount, err := sqlstore.ExistingIDs(view, &presentAccounts, accounts)
	if err != nil {
		return false
	}
	hasKey, err := sqlstore.ExistingIDs(view, &presentKeys, keys)
	if err != nil {
		return false
	}
	// Clones: other goroutines read the days of a batch.
	days := slices.DeleteFunc(slices.Clone(b.days), func(d *daily) bool { return !hasAccount[d.account] })
	uses := slices.DeleteFunc(slices.Clone(b.keys), func(k keyUse) bool { return !hasKey[k.key.id] })
	dropped := len(b.days) - len(days) + len(b.keys) - len(uses)
	if dropped == 0 {
		return false
	}
	s.counters.mu.Lock()
	b.days, b.keys = days, uses
	s.counters.mu.Unlock()
	s.buildRows(b)
	s.metrics.dropped.Add(float64(dropped))
	s.Log.Warn("dropping usage of accounts or keys that are no longer in the store", "rows", dropped)
	s.cache.invalidate() // the cache still has the missing accounts and keys
	return true
}
