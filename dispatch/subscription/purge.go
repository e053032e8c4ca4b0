package subscription

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

const (
	purgeEvery = 10 * time.Minute
	// purgeAfter is the minimum time between the deletion of a subscription and the purge of its row. By then, the
	// caches of all instances have long read the deletion.
	purgeAfter = time.Hour
	// purgeGroup is the maximum number of rows that a transaction deletes. On SQLite all other
	// writes wait for the transaction.
	purgeGroup = 500
)

// purge deletes the rows of deleted subscriptions without deliveries. It does so every purgeEvery until ctx ends.
func (cache *Cache) purge(ctx context.Context) {
	for sleep.For(ctx, purgeEvery) {
		cache.purgeCounted(ctx)
	}
}

// purgeCounted runs purgeOnce, and counts and logs a failure. The next purge deletes the rest.
func (cache *Cache) purgeCounted(ctx context.Context) {
	if err := cache.purgeOnce(ctx); err != nil && ctx.Err() == nil {
		cache.metrics.purgeFailures.Inc()
		cache.Log.Warn("webhooks: purging deleted subscriptions", "error", err)
	}
}

// unused is the SQL condition of the rows to purge: deleted at or before $1, and without deliveries.
const unused = "deleted_at <= $1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.webhook_id = webhook.id)"

var removeUnused = sqlstore.NewBatchStatement(1, "DELETE FROM webhook WHERE id IN (", "?", ") AND "+unused)

// purgeOnce deletes unused rows. It finds them outside of a transaction, because the search reads all rows. It does
// not call nextRevision: the caches of all instances have long removed these subscriptions.
func (cache *Cache) purgeOnce(ctx context.Context) error {
	until := cache.Now().Add(-purgeAfter).UnixMicro()
	ids, err := sqlstore.All(cache.DB.View(ctx), sqlstore.Scalar[string], "SELECT id FROM webhook WHERE "+unused, until)
	if err != nil {
		return fmt.Errorf("reading deleted subscriptions: %w", err)
	}
	for group := range slices.Chunk(ids, purgeGroup) {
		err := cache.DB.Update(ctx, func(tx *sqlstore.Tx) error {
			return removeUnused.Each(len(group), func(text string, from, to int) error {
				args := []any{until}
				for _, id := range group[from:to] {
					args = append(args, id)
				}
				_, err := tx.Exec(text, args...)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("purging deleted subscriptions: %w", err)
		}
	}
	return nil
}
