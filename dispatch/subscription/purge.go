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
	// purgeAfter is long after every instance has forgotten a deleted subscription.
	purgeAfter = time.Hour
	// purgeGroup keeps a deletion in the range of milliseconds, since on SQLite
	// every other change waits for it.
	purgeGroup = 500
)

// purge removes the rows of deleted subscriptions, when no delivery refers to
// them any more, until ctx ends.
func (b *Book) purge(ctx context.Context) {
	for sleep.For(ctx, purgeEvery) {
		b.purgeTold(ctx)
	}
}

// purgeTold is purgeOnce that counts a failure: the next time finds the same
// rows.
func (b *Book) purgeTold(ctx context.Context) {
	if err := b.purgeOnce(ctx); err != nil && ctx.Err() == nil {
		b.metrics.purgeFailures.Inc()
		b.Log.Warn("webhooks: removing deleted subscriptions", "error", err)
	}
}

// unused holds for a deleted subscription that nothing refers to.
const unused = "deleted_at <= $1 AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.webhook_id = webhook.id)"

var removeUnused = sqlstore.Group(1, "DELETE FROM webhook WHERE id IN (", "?", ") AND "+unused)

// purgeOnce removes what can be removed now. It is looked for without a
// transaction, because that takes a walk through all rows. The revision stays:
// books know no such subscription any more.
func (b *Book) purgeOnce(ctx context.Context) error {
	until := b.Now().Add(-purgeAfter).UnixMicro()
	ids, err := sqlstore.All(b.DB.View(ctx), func(row sqlstore.Scanner) (id string, err error) {
		err = row.Scan(&id)
		return id, err
	}, "SELECT id FROM webhook WHERE "+unused, until)
	if err != nil {
		return fmt.Errorf("looking for deleted subscriptions: %w", err)
	}
	for group := range slices.Chunk(ids, purgeGroup) {
		err := b.DB.Update(ctx, func(tx *sqlstore.Tx) error {
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
			return fmt.Errorf("removing deleted subscriptions: %w", err)
		}
	}
	return nil
}
