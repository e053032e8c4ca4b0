package alert

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

const (
	// pageRows is the number of rows that one query of a full read returns.
	pageRows = 2000
	// deletedFor is how long the row of a deleted alert remains, so that the evaluation finds the deletion.
	deletedFor = time.Hour
	// historyFor is how long the changes of an alert are kept.
	historyFor = 366 * 24 * time.Hour
	// purgeRows is the largest number of rows that a transaction purges.
	purgeRows = 500
)

// Revision returns the number of changes by accounts, of all alerts.
func Revision(ctx context.Context, db *sqlstore.DB) (n int64, err error) {
	if err = db.View(ctx).QueryRow("SELECT n FROM alert_revision WHERE id = 1").Scan(&n); err != nil {
		return 0, fmt.Errorf("reading the revision of alerts: %w", err)
	}
	return n, nil
}

// Since calls take for each alert that accounts have changed after a revision, including deleted ones and those with a fault. With a negative
// revision it calls take for all alerts that are not deleted, page by page.
func Since(ctx context.Context, db *sqlstore.DB, revision int64, take func(*Alert)) error {
	if revision >= 0 {
		rows, err := sqlstore.All(db.View(ctx), scanAny, selectAlert+" WHERE revision > $1 ORDER BY revision", revision)
		if err != nil {
			return fmt.Errorf("reading changed alerts: %w", err)
		}
		for _, a := range rows {
			take(a)
		}
		return nil
	}
	for after := ""; ; {
		rows, err := sqlstore.All(db.View(ctx), scanAny, selectAlert+" WHERE id > $1 AND deleted_at IS NULL ORDER BY id LIMIT $2", after, pageRows)
		if err != nil {
			return fmt.Errorf("reading alerts: %w", err)
		}
		for _, a := range rows {
			take(a)
			after = a.ID
		}
		if len(rows) < pageRows {
			return nil
		}
	}
}

// Read returns an alert, which may have a fault; nil if it does not exist any more.
func Read(ctx context.Context, db *sqlstore.DB, id string) (*Alert, error) {
	a, _, err := sqlstore.One(db.View(ctx), scanAny, selectAlert+" WHERE id = $1", id)
	if err != nil {
		return nil, fmt.Errorf("reading alert %q: %w", id, err)
	}
	return a, nil
}

// Purge deletes old changes, and alerts that were deleted an hour ago.
func Purge(ctx context.Context, db *sqlstore.DB, now time.Time) error {
	deleted, old := now.Add(-deletedFor).UnixMicro(), now.Add(-historyFor).UnixMicro()
	return errors.Join(
		purge(ctx, db, "DELETE FROM alert_change WHERE (alert_id, number) IN (SELECT alert_id, number FROM alert_change WHERE at < $1 LIMIT $2)", old),
		purge(ctx, db, `DELETE FROM alert_change WHERE (alert_id, number) IN (SELECT c.alert_id, c.number FROM alert a JOIN alert_change c ON c.alert_id = a.id
			WHERE a.deleted_at <= $1 LIMIT $2)`, deleted),
		purge(ctx, db, `DELETE FROM alert WHERE id IN (SELECT id FROM alert WHERE deleted_at <= $1
			AND NOT EXISTS (SELECT 1 FROM alert_change c WHERE c.alert_id = alert.id) LIMIT $2)`, deleted))
}

// purge runs a statement until it deletes nothing.
func purge(ctx context.Context, db *sqlstore.DB, statement string, before int64) error {
	for {
		var n int64
		err := db.Update(ctx, func(tx *sqlstore.Tx) (err error) {
			n, err = tx.Exec(statement, before, purgeRows)
			return err
		})
		if err != nil {
			return fmt.Errorf("purging alerts: %w", err)
		}
		if n < purgeRows {
			return nil
		}
	}
}
