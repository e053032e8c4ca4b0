package quota

import (
	"context"
	"maps"
	"slices"

	"vayu/internal/sqlstore"
)

var (
	presentAccounts = sqlstore.NewBatchStatement(0, "SELECT id FROM account WHERE id IN (", "?", ")")
	presentKeys     = sqlstore.NewBatchStatement(0, "SELECT id FROM api_key WHERE id IN (", "?", ")")
)

// dropMissing removes the usage of deleted accounts and the last use of deleted keys from a batch, and reports whether
// it removed any. Accounts and keys can be missing after a manual DELETE, or after a restore of an older store. One
// missing row would make every flush fail, for all accounts. If the store cannot be read, dropMissing returns false.
func (c *Counters) dropMissing(ctx context.Context, b *batch) bool {
	var accounts, keys []string
	for _, a := range b.accounts {
		accounts = append(accounts, a.id)
		keys = slices.AppendSeq(keys, maps.Keys(a.writing.keys))
	}
	view := c.DB.View(ctx)
	hasAccount, err := sqlstore.ExistingIDs(view, &presentAccounts, accounts)
	if err != nil {
		return false
	}
	hasKey, err := sqlstore.ExistingIDs(view, &presentKeys, keys)
	if err != nil {
		return false
	}
	dropped := 0
	for _, a := range b.accounts {
		a.mu.Lock()
		dropped += a.writing.removeMissing(hasAccount[a.id], hasKey)
		a.mu.Unlock()
	}
	if dropped == 0 {
		return false
	}
	b.build()
	c.metrics.dropped.Add(float64(dropped))
	c.Log.Warn("dropping the usage of deleted accounts or keys", "rows", dropped)
	c.Missing()
	return true
}
