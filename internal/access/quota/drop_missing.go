package quota

import (
	"context"
	"slices"

	"vayu/internal/sqlstore"
)

var (
	presentAccounts = sqlstore.NewBatchStatement(0, "SELECT id FROM account WHERE id IN (", "?", ")")
	presentKeys     = sqlstore.NewBatchStatement(0, "SELECT id FROM api_key WHERE id IN (", "?", ")")
)

// dropMissing removes the usage of deleted accounts and keys from a batch. Accounts and keys can be missing
// after a manual DELETE, or after a restore of an older store. One missing row would make every flush fail,
// for all accounts. dropMissing reports whether it removed any usage. The caller holds l.flushing.
func (l *Counters) dropMissing(ctx context.Context, b *batch) bool {
	accounts, keys := make([]string, len(b.days)), make([]string, len(b.keys))
	for i, d := range b.days {
		accounts[i] = d.account.id
	}
	for i, k := range b.keys {
		keys[i] = k.key.key
	}
	view := l.DB.View(ctx)
	hasAccount, err := sqlstore.ExistingIDs(view, &presentAccounts, accounts)
	if err != nil {
		return false
	}
	hasKey, err := sqlstore.ExistingIDs(view, &presentKeys, keys)
	if err != nil {
		return false
	}
	// The slices are cloned, because other goroutines read the days of a batch.
	days := slices.DeleteFunc(slices.Clone(b.days), func(d *day) bool { return !hasAccount[d.account.id] })
	uses := slices.DeleteFunc(slices.Clone(b.keys), func(k keyRow) bool { return !hasKey[k.key.key] })
	dropped := len(b.days) - len(days) + len(b.keys) - len(uses)
	if dropped == 0 {
		return false
	}
	l.mu.Lock()
	b.days, b.keys = days, uses
	l.mu.Unlock()
	b.build()
	l.metrics.dropped.Add(float64(dropped))
	l.Log.Warn("dropping usage of accounts or keys that are no longer in the store", "rows", dropped)
	l.Missing()
	return true
}
