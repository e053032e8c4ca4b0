package evaluation

import (
	"context"
	"encoding/json"
	"fmt"

	"vayu/internal/sqlstore"
	"vayu/query/aggregate"
	"vayu/schema"
)

// microseconds is the number of microseconds in a second. Times are stored in microseconds.
const microseconds = 1_000_000

// Progress is how far the alerts of a world are evaluated.
type Progress struct {
	Hour        uint32                // newest hour whose evaluation is complete, in Unix seconds; 0 for none
	Publication aggregate.Publication // newest one whose evaluation has begun
	// Lagging has the last evaluated hours of places that were not evaluated up to Hour, by the key of the place.
	Lagging map[string]uint32
}

// ReadProgress returns how far the alerts of a world are evaluated.
func ReadProgress(ctx context.Context, db *sqlstore.DB, world schema.World) (Progress, error) {
	e, _, err := sqlstore.One(db.View(ctx), func(row sqlstore.Scanner) (e Progress, err error) {
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

// storePublication stores that the evaluation of p has begun. If a newer publication is stored, it returns false.
func storePublication(tx *sqlstore.Tx, world schema.World, p aggregate.Publication) (bool, error) {
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

// storeHour stores that the evaluation of an hour is complete, and the last evaluated hours of the places that lag
// behind that hour. If a later hour is already stored, storeHour changes nothing.
func storeHour(tx *sqlstore.Tx, world schema.World, hour uint32, lagging map[string]uint32) error {
	text, err := json.Marshal(lagging)
	if err == nil {
		_, err = tx.Exec("UPDATE alert_evaluation SET hour = $2, lagging = $3 WHERE mode = $1 AND hour <= $2", world.String(), int64(hour)*microseconds, string(text))
	}
	if err != nil {
		return fmt.Errorf("storing the evaluated hour: %w", err)
	}
	return nil
}
