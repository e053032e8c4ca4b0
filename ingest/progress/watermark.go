package progress

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/ingest"
	"vayu/internal/sqlstore"
	"vayu/schema/air"
)

// Watermark is the time up to which a source or a partition is fetched.
type Watermark struct {
	Source    string    `json:"source"`
	Partition string    `json:"partition"` // key of the partition; "" for the source as a whole
	At        time.Time `json:"watermark_at"`
	Failures  int       `json:"failures"` // failed fetches of the partition since the last successful one
	UpdatedAt time.Time `json:"updated_at"`
}

// Watermarks returns the watermark of a source, and then the watermarks of its partitions, the oldest first. It returns
// nothing for a source that was never fetched.
func (s *Store) Watermarks(ctx context.Context, source string) ([]Watermark, error) {
	all, err := sqlstore.All(s.db.View(ctx), func(row sqlstore.Scanner) (Watermark, error) {
		w := Watermark{Source: source}
		var at, updated int64
		err := row.Scan(&w.Partition, &at, &w.Failures, &updated)
		w.At, w.UpdatedAt = time.UnixMicro(at).UTC(), time.UnixMicro(updated).UTC()
		return w, err
	}, `SELECT part, watermark, failures, updated_at FROM (
			SELECT '' AS part, watermark, 0 AS failures, updated_at, 0 AS rank FROM source_progress
			WHERE scope = $1 AND source = $2 AND watermark IS NOT NULL
			UNION ALL SELECT part, watermark, failures, updated_at, 1 FROM source_partition WHERE scope = $1 AND source = $2
		) AS marks ORDER BY rank, watermark, part`, s.scope, source)
	if err != nil {
		return nil, fmt.Errorf("reading the watermarks of source %q: %w", source, err)
	}
	return all, nil
}

// Sources returns the progress of the scheduled runs of each source, by the name of the source.
func (s *Store) Sources(ctx context.Context) (map[string]*air.SourceProgress, error) {
	all := make(map[string]*air.SourceProgress)
	err := sqlstore.Each(s.db.View(ctx), func(row sqlstore.Scanner) error {
		var name string
		var mark sql.NullInt64
		p := air.SourceProgress{Oldest: []air.PartitionProgress{}}
		if err := row.Scan(&name, &mark, &p.Partitions, &p.Failing); err != nil {
			return err
		}
		if mark.Valid {
			at := time.UnixMicro(mark.Int64).UTC()
			p.Watermark = &at
		}
		all[name] = &p
		return nil
	}, `SELECT s.source, s.watermark, count(p.part), COALESCE(sum(CASE WHEN p.failures > 0 THEN 1 ELSE 0 END), 0)
		FROM source_progress AS s LEFT JOIN source_partition AS p ON p.scope = s.scope AND p.source = s.source
		WHERE s.scope = $1 GROUP BY s.source, s.watermark`, s.scope)
	if err == nil {
		err = s.addOldest(ctx, all)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the watermarks: %w", err)
	}
	return all, nil
}

// addOldest adds to each source the air.MaxOldest partitions with the oldest watermarks.
func (s *Store) addOldest(ctx context.Context, all map[string]*air.SourceProgress) error {
	return sqlstore.Each(s.db.View(ctx), func(row sqlstore.Scanner) error {
		var name string
		var mark int64
		var p air.PartitionProgress
		if err := row.Scan(&name, &p.Partition, &mark, &p.Failures); err != nil {
			return err
		}
		p.Watermark = time.UnixMicro(mark).UTC()
		if one := all[name]; one != nil {
			one.Oldest = append(one.Oldest, p)
		}
		return nil
	}, `SELECT source, part, watermark, failures FROM (
			SELECT source, part, watermark, failures, ROW_NUMBER() OVER (PARTITION BY source ORDER BY watermark, part) AS place
			FROM source_partition WHERE scope = $1
		) AS ordered WHERE place <= $2 ORDER BY source, place`, s.scope, air.MaxOldest)
}

// Errors of SetWatermark.
var (
	// ErrFuture means that a watermark is in the future. The source would never fetch the readings from now until then.
	ErrFuture = errors.New("a watermark cannot be in the future")
	// ErrNoPartition means that no progress of the partition is stored. The partition was never fetched, or its row was
	// deleted: by SetWatermark for the whole source, by Save with Restart, or because it was older than keepPartitions.
	ErrNoPartition = errors.New("no such partition")
)

// SetWatermark sets the watermark of a partition. If `partition` is "", it sets that of the source, and deletes the
// progress of its partitions. The next run of the source continues at the time `at`.
func (s *Store) SetWatermark(ctx context.Context, source, partition string, at time.Time) error {
	now := s.now()
	if at.After(now) {
		return ErrFuture
	}
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE source_progress SET revision = revision + 1, updated_at = $3 WHERE scope = $1 AND source = $2", s.scope, source, now.UnixMicro())
		if err != nil {
			return err
		}
		if partition != "" {
			n, err = tx.Exec("UPDATE source_partition SET watermark = $4, failures = 0, updated_at = $5 WHERE scope = $1 AND source = $2 AND part = $3",
				s.scope, source, partition, at.UnixMicro(), now.UnixMicro())
			if err == nil && n == 0 {
				err = ErrNoPartition
			}
			return err
		}
		if n == 0 {
			return s.insert(tx, source, ingest.Progress{Revision: 1, Watermark: at}, now)
		}
		if _, err := tx.Exec(deletePartitions, s.scope, source); err != nil {
			return err
		}
		_, err = tx.Exec("UPDATE source_progress SET watermark = $3, target = NULL WHERE scope = $1 AND source = $2", s.scope, source, at.UnixMicro())
		return err
	})
	if err != nil && !errors.Is(err, ErrNoPartition) {
		return fmt.Errorf("storing the watermark of source %q: %w", source, err)
	}
	return err
}

// insert inserts the progress of a source that was never fetched.
func (s *Store) insert(tx *sqlstore.Tx, source string, p ingest.Progress, now time.Time) error {
	_, err := tx.Exec(saveProgress, s.scope, source, p.Revision, p.Config, sqlstore.Micros(p.Watermark), nil, nil, nil, now.UnixMicro())
	return err
}
