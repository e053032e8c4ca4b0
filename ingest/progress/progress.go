// Package progress stores the progress of the sources of readings in the state store. After a restart, the same or
// another instance continues from the stored progress.
package progress

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/internal/sqlstore"
)

// Store has the progress of the sources of one scope: a world, or the local data of one instance. It is safe for
// concurrent use.
type Store struct {
	db    *sqlstore.DB
	scope string
	now   func() time.Time
}

// New returns a store of the progress of a scope, see [Scope]. `now` is time.Now except in tests.
func New(db *sqlstore.DB, scope string, now func() time.Time) *Store {
	return &Store{db: db, scope: scope, now: now}
}

const (
	selectProgress = `SELECT revision, config, watermark, oldest, newest, target FROM source_progress
		WHERE scope = $1 AND source = $2`
	selectPartitions = "SELECT part, watermark, failures FROM source_partition WHERE scope = $1 AND source = $2"
)

// Load implements [ingest.ProgressStore].
func (s *Store) Load(ctx context.Context, feed string, revision int64) (p ingest.Progress, changed bool, err error) {
	view := s.db.View(ctx)
	p, err = scanProgress(view.QueryRow(selectProgress, s.scope, feed))
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return ingest.Progress{}, revision != 0, nil
	case err != nil:
		return ingest.Progress{}, false, fmt.Errorf("reading the progress of source %q: %w", feed, err)
	case p.Revision == revision:
		return ingest.Progress{}, false, nil
	}
	p.Partitions = make(map[string]ingest.PartitionProgress)
	err = sqlstore.Each(view, func(row sqlstore.Scanner) error {
		var key string
		var watermark, failures int64
		if err := row.Scan(&key, &watermark, &failures); err != nil {
			return err
		}
		p.Partitions[key] = ingest.PartitionProgress{Watermark: time.UnixMicro(watermark).UTC(), Failures: int(failures)}
		return nil
	}, selectPartitions, s.scope, feed)
	if err != nil {
		return ingest.Progress{}, false, fmt.Errorf("reading the partitions of source %q: %w", feed, err)
	}
	return p, true, nil
}

func scanProgress(row sqlstore.Scanner) (p ingest.Progress, err error) {
	var watermark, oldest, newest, target sql.NullInt64
	err = row.Scan(&p.Revision, &p.Config, &watermark, &oldest, &newest, &target)
	p.Watermark, p.Oldest = sqlstore.FromMicros(watermark), sqlstore.FromMicros(oldest)
	p.Newest, p.Target = sqlstore.FromMicros(newest), sqlstore.FromMicros(target)
	return p, err
}

const (
	// saveProgress inserts or updates a row. It does not change a row that has another revision than the given one.
	saveProgress = `INSERT INTO source_progress (scope, source, revision, config, watermark, oldest, newest, target, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
		ON CONFLICT (scope, source) DO UPDATE SET config = excluded.config, watermark = excluded.watermark,
			oldest = excluded.oldest, newest = excluded.newest, target = excluded.target, updated_at = excluded.updated_at
		WHERE source_progress.revision = excluded.revision`
	deletePartitions = "DELETE FROM source_partition WHERE scope = $1 AND source = $2"
	// deleteForgotten deletes partitions that were not updated since $3. The network probably no longer lists them.
	deleteForgotten = deletePartitions + " AND updated_at < $3"
)

// keepPartitions is how long Save keeps a partition's row after the last fetch (even a failed fetch) or SetWatermark.
const keepPartitions = 90 * 24 * time.Hour

// Save implements [ingest.ProgressStore].
func (s *Store) Save(ctx context.Context, feed string, p ingest.Progress) error {
	now := s.now()
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec(saveProgress, s.scope, feed, p.Revision, p.Config, sqlstore.Micros(p.Watermark), sqlstore.Micros(p.Oldest),
			sqlstore.Micros(p.Newest), sqlstore.Micros(p.Target), now.UnixMicro())
		if err != nil {
			return err
		}
		if n == 0 {
			return ingest.ErrRevised
		}
		if p.Restart {
			if _, err := tx.Exec(deletePartitions, s.scope, feed); err != nil {
				return err
			}
		}
		if len(p.Partitions) > 0 {
			if _, err := tx.Exec(deleteForgotten, s.scope, feed, now.Add(-keepPartitions).UnixMicro()); err != nil {
				return err
			}
		}
		return s.savePartitions(tx, feed, p.Partitions, now)
	})
	if err != nil && !errors.Is(err, ingest.ErrRevised) {
		return fmt.Errorf("storing the progress of source %q: %w", feed, err)
	}
	return err
}

// upsertPartitions returns the statement that inserts or updates rows of partitions.
func upsertPartitions() sqlstore.BatchStatement {
	return sqlstore.NewBatchStatement(0, "INSERT INTO source_partition (scope, source, part, watermark, failures, updated_at) VALUES ",
		"(?, ?, ?, ?, ?, ?)", ` ON CONFLICT (scope, source, part) DO UPDATE SET
			watermark = excluded.watermark, failures = excluded.failures, updated_at = excluded.updated_at`)
}

func (s *Store) savePartitions(tx *sqlstore.Tx, feed string, all map[string]ingest.PartitionProgress, now time.Time) error {
	if len(all) == 0 {
		return nil
	}
	statement := upsertPartitions()
	keys := slices.Sorted(maps.Keys(all)) // in a fixed order, so that concurrent saves cannot deadlock
	return statement.Each(len(keys), func(text string, from, to int) error {
		args := make([]any, 0, 6*(to-from))
		for _, key := range keys[from:to] {
			args = append(args, s.scope, feed, key, all[key].Watermark.UnixMicro(), all[key].Failures, now.UnixMicro())
		}
		_, err := tx.Exec(text, args...)
		return err
	})
}
