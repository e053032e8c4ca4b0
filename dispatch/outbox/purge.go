package outbox

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
)

const (
	// keepFor is how long an event can be asked for (CONTRACT 6).
	keepFor    = 30 * 24 * time.Hour
	purgeFirst = time.Minute // after the start, which has enough to do
	purgeEvery = time.Hour
	// purgeGroup keeps a deletion in the range of milliseconds, since on SQLite
	// every other change waits for it; purgePause lets those through. Ten thousand
	// events a second can be deleted so, more than come in.
	purgeGroup = 500
	purgePause = 50 * time.Millisecond
)

// purge deletes once an hour the events whose time is over, until ctx ends. A
// store that is away is no reason to end: the next hour finds the same rows.
func (o *Outbox) purge(ctx context.Context) {
	for sleep.For(ctx, purgeFirst); ctx.Err() == nil; sleep.For(ctx, purgeEvery) {
		o.metrics.purging.Tell(ctx, o.purgeOnce(ctx))
	}
}

// purgeOnce deletes what is over now, and not what still waits or what a delivery
// refers to: that goes when the delivery has gone.
func (o *Outbox) purgeOnce(ctx context.Context) error {
	until := idAt(o.Now().Add(-keepFor).UnixMicro())
	for after := ""; ctx.Err() == nil; sleep.For(ctx, purgePause) {
		last, err := o.purgeAfter(ctx, after, until)
		if err != nil {
			return err
		}
		if last == "" {
			break
		}
		after = last
	}
	return nil
}

// purgeAfter deletes those of the next group of events that may go, and returns
// the last id of the group; "" when there is none.
func (o *Outbox) purgeAfter(ctx context.Context, after, until string) (last string, err error) {
	var end sql.NullString
	if err := o.DB.View(ctx).QueryRow(
		"SELECT max(id) FROM (SELECT id FROM event WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS old", after, until, purgeGroup).Scan(&end); err != nil {
		return "", fmt.Errorf("looking for them: %w", err)
	}
	if !end.Valid {
		return "", nil
	}
	var n int64
	err = o.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		n, err = tx.Exec(`
			DELETE FROM event WHERE id > $1 AND id <= $2
			AND NOT EXISTS (SELECT 1 FROM outbox o WHERE o.event_id = event.id)
			AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.event_id = event.id)`, after, end.String)
		return err
	})
	if err != nil {
		return "", err
	}
	o.metrics.purged.Add(float64(n))
	return end.String, nil
}
