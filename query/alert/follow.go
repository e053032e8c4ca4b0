package alert

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/query/rollup"
	"vayu/schema"
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

// Evaluation is how far the alerts of a world are evaluated.
type Evaluation struct {
	Hour        uint32             // newest hour whose evaluation is complete, in Unix seconds; 0 for none
	Publication rollup.Publication // newest that was evaluated
	// Lagging has the evaluated hours of places that lag behind Hour, by the key of the place.
	Lagging map[string]uint32
}

// Evaluated returns how far the alerts of a world are evaluated.
func Evaluated(ctx context.Context, db *sqlstore.DB, world schema.World) (Evaluation, error) {
	e, _, err := sqlstore.One(db.View(ctx), func(row sqlstore.Scanner) (e Evaluation, err error) {
		var hour, rolledUp, promoted int64
		var lagging []byte
		if err := row.Scan(&hour, &rolledUp, &e.Publication.Rollups, &promoted, &lagging); err != nil {
			return e, err
		}
		e.Hour, e.Publication.RolledUp, e.Publication.Promoted = uint32(hour/microseconds), rolledUp/1000, uint32(promoted/microseconds)
		return e, json.Unmarshal(lagging, &e.Lagging)
	}, "SELECT hour, rolled_up_at, rollups, promoted, lagging FROM alert_evaluation WHERE mode = $1", world.String())
	if err != nil {
		return e, fmt.Errorf("reading how far alerts are evaluated: %w", err)
	}
	return e, nil
}

// Advance stores that a publication is evaluated. It returns false if a newer one was evaluated before.
func Advance(tx *sqlstore.Tx, world schema.World, p rollup.Publication) (bool, error) {
	n, err := tx.Exec(`INSERT INTO alert_evaluation (mode, hour, rolled_up_at, rollups, promoted) VALUES ($1, 0, $2, $3, $4)
		ON CONFLICT (mode) DO UPDATE SET rolled_up_at = excluded.rolled_up_at, rollups = excluded.rollups, promoted = excluded.promoted
		WHERE (alert_evaluation.rolled_up_at, alert_evaluation.rollups, alert_evaluation.promoted)
			<= (excluded.rolled_up_at, excluded.rollups, excluded.promoted)`,
		world.String(), p.RolledUp*1000, p.Rollups, int64(p.Promoted)*microseconds)
	if err != nil {
		return false, fmt.Errorf("storing the evaluated publication: %w", err)
	}
	return n == 1, nil
}

// SetEvaluated stores that the evaluation of an hour is complete, and the evaluated hours of the places that lag behind
// it. An earlier hour than the stored one is ignored.
func SetEvaluated(tx *sqlstore.Tx, world schema.World, hour uint32, lagging map[string]uint32) error {
	text, err := json.Marshal(lagging)
	if err == nil {
		_, err = tx.Exec("UPDATE alert_evaluation SET hour = $2, lagging = $3 WHERE mode = $1 AND hour <= $2", world.String(), int64(hour)*microseconds, string(text))
	}
	if err != nil {
		return fmt.Errorf("storing the evaluated hour: %w", err)
	}
	return nil
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
