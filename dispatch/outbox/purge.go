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
	// retention is how long events are kept at least. The documentation of the API states this value.
	retention  = 30 * 24 * time.Hour
	purgeDelay = time.Minute // delay of the first purge, because an instance has much to do after its start
	purgeEvery = time.Hour
	// purgeGroup is the maximum number of events that a transaction deletes. On SQLite all other writes wait for the
	// transaction. With so few events it takes only milliseconds.
	purgeGroup = 500
	// purgePause is the pause after each group, in which other writes can run. So at most 10,000 events are deleted a
	// second.
	purgePause = 50 * time.Millisecond
)

// purge deletes expired events once an hour until ctx ends. If a purge fails, the next one deletes the rest.
func (o *Outbox) purge(ctx context.Context) {
	for sleep.For(ctx, purgeDelay); ctx.Err() == nil; sleep.For(ctx, purgeEvery) {
		o.metrics.purging.Observe(ctx, o.purgeOnce(ctx))
	}
}

// purgeOnce deletes expired events. It keeps unpublished events, and events that still have deliveries.
func (o *Outbox) purgeOnce(ctx context.Context) error {
	until := idAt(o.Now().Add(-retention).UnixMicro())
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

// purgeAfter deletes the expired events of the next group: up to purgeGroup ids that are larger than `after` and
// smaller than `until`. It returns the last id of the group; "" if no ids are left.
func (o *Outbox) purgeAfter(ctx context.Context, after, until string) (last string, err error) {
	var end sql.NullString
	if err := o.DB.View(ctx).QueryRow(
		"SELECT max(id) FROM (SELECT id FROM event WHERE id > $1 AND id < $2 ORDER BY id LIMIT $3) AS old", after, until, purgeGroup).Scan(&end); err != nil {
		return "", fmt.Errorf("reading expired events: %w", err)
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
