package progress

import (
	"context"
	"fmt"
	"time"

	"vayu/ingest/source/described/budget"
	"vayu/internal/sqlstore"
)

// Calls returns a function that returns the store of a source's call budget. All processes share the store. On SQLite,
// the store uses the clock `now`. On PostgreSQL it uses the clock of the server, because the clocks of instances may
// differ.
func Calls(db *sqlstore.DB, now func() time.Time) func(source string) budget.Store {
	return func(source string) budget.Store { return &calls{db, source, now} }
}

type calls struct {
	db     *sqlstore.DB
	source string
	now    func() time.Time
}

// Update implements [budget.Store]. The first statement locks the row on PostgreSQL, so that concurrent updates run in
// sequence.
func (c *calls) Update(ctx context.Context, change func(state []byte, now time.Time) ([]byte, error)) error {
	var refused error // error of the function change
	err := c.db.Update(ctx, func(tx *sqlstore.Tx) error {
		now := c.now()
		var text string
		err := tx.QueryRow(`INSERT INTO source_calls (source, state, updated_at) VALUES ($1, '', $2)
			ON CONFLICT (source) DO UPDATE SET updated_at = excluded.updated_at RETURNING state`, c.source, now.UnixMicro()).Scan(&text)
		if err != nil {
			return err
		}
		if tx.Name() == "postgres" {
			var micros int64
			if err := tx.QueryRow("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)").Scan(&micros); err != nil {
				return err
			}
			now = time.UnixMicro(micros)
		}
		state, err := change([]byte(text), now)
		if refused = err; err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE source_calls SET state = $2 WHERE source = $1", c.source, string(state))
		return err
	})
	if refused != nil {
		return refused
	}
	if err != nil {
		return fmt.Errorf("storing the calls of source %q: %w", c.source, err)
	}
	return nil
}
