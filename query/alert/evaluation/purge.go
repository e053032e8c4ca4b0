package evaluation

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

const (
	// deletedFor is how long the row of a deleted alert remains, so that the evaluation finds the deletion.
	deletedFor = time.Hour
	// historyFor is how long the changes of an alert are kept.
	historyFor = 366 * 24 * time.Hour
	// purgedAtOnce is the largest number of rows that a transaction purges.
	purgedAtOnce = 500
)

// purge deletes changes older than historyFor, and alerts deleted at least deletedFor ago, with their changes.
func purge(ctx context.Context, db *sqlstore.DB, now time.Time) error {
	deleted, old := now.Add(-deletedFor).UnixMicro(), now.Add(-historyFor).UnixMicro()
	return errors.Join(
		purgeRows(ctx, db, "DELETE FROM alert_change WHERE (alert_id, number) IN (SELECT alert_id, number FROM alert_change WHERE at < $1 LIMIT $2)", old),
		purgeRows(ctx, db, `DELETE FROM alert_change WHERE (alert_id, number) IN (SELECT c.alert_id, c.number FROM alert a JOIN alert_change c ON c.alert_id = a.id
			WHERE a.deleted_at <= $1 LIMIT $2)`, deleted),
		purgeRows(ctx, db, `DELETE FROM alert WHERE id IN (SELECT id FROM alert WHERE deleted_at <= $1
			AND NOT EXISTS (SELECT 1 FROM alert_change c WHERE c.alert_id = alert.id) LIMIT $2)`, deleted))
}

// purgeRows runs a DELETE statement until no row is left to delete. Each run deletes at most purgedAtOnce rows.
func purgeRows(ctx context.Context, db *sqlstore.DB, statement string, before int64) error {
	for {
		var n int64
		err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			n, err = tx.Exec(statement, before, purgedAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("purging alerts: %w", err)
		}
		if n < purgedAtOnce {
			return nil
		}
	}
}
