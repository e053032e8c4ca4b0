package subscription

import "vayu/internal/sqlstore"

// Personal returns the changes that erase an account: they mark its subscriptions as deleted and clear their URLs and
// secrets. The purge deletes the rows when no delivery refers to them.
func Personal() []sqlstore.Erasure {
	return []sqlstore.Erasure{{
		Table: "webhook", Key: []string{"id"}, From: "webhook t WHERE t.account_id = $1 AND (t.url <> '' OR t.deleted_at IS NULL)",
		Set: `url = '', secret = '', previous_secret = NULL, previous_until = NULL, deleted_at = COALESCE(deleted_at, created_at),
			revision = (SELECT n FROM webhook_revision WHERE id = 1)`,
		Before: "UPDATE webhook_revision SET n = n + 1 WHERE id = 1",
	}}
}
