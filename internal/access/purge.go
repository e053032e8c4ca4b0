package access

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
)

const (
	purgeEvery = time.Minute
	// purgeGroup is the number of rows per deletion. On SQLite every other change waits for a deletion, so a deletion
	// must take only milliseconds.
	purgeGroup = 500
	// purgeDelay is how long a row is kept after it expires. During this time, an instance whose clock is behind can
	// still read the row.
	purgeDelay = time.Minute
)

// purges are the statements that delete expired rows. Each deletes at most $2 rows that expired by time $1.
var purges = map[string]string{
	"idempotent replies": `DELETE FROM idempotent_reply WHERE (account_id, mode, key) IN
		(SELECT account_id, mode, key FROM idempotent_reply WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)
		AND expires_at <= $1`,
	"signatures": `DELETE FROM seen_signature WHERE (key_id, signature) IN
		(SELECT key_id, signature FROM seen_signature WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
	"batches of usage": "DELETE FROM usage_flush WHERE id IN (SELECT id FROM usage_flush WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
	"usage by key": `DELETE FROM usage_key_day WHERE (account_id, mode, day, key_id, operation) IN
		(SELECT account_id, mode, day, key_id, operation FROM usage_key_day WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)`,
	"sessions": "DELETE FROM session WHERE id IN (SELECT id FROM session WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2)",
}

// purge deletes expired rows once a minute, until ctx ends. After an error, it retries in the next minute.
func (s *Service) purge(ctx context.Context) error {
	tick := time.NewTicker(purgeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := s.purgeOnce(ctx); err != nil && ctx.Err() == nil {
			s.Log.Warn("purging expired rows", "error", err)
		}
	}
}

// purgeOnce deletes all rows that expired at least purgeDelay ago.
func (s *Service) purgeOnce(ctx context.Context) error {
	until := s.Now().Add(-purgeDelay).UnixMicro()
	for what, statement := range purges {
		for {
			var n int64
			err := s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
				n, err = tx.Exec(statement, until, purgeGroup)
				return err
			})
			if err != nil {
				return fmt.Errorf("deleting %s: %w", what, err)
			}
			if n < purgeGroup {
				break
			}
		}
	}
	return nil
}
