package backfill

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"vayu/ingest"
	"vayu/internal/sqlstore"
)

// Store reads and writes the backfills of one scope: a world, or the local data of one instance (see package progress).
// It is safe for concurrent use.
type Store struct {
	db    *sqlstore.DB
	scope string
	now   func() time.Time
}

// New returns a store of the backfills of a scope. `now` is time.Now except in tests.
func New(db *sqlstore.DB, scope string, now func() time.Time) *Store { return &Store{db, scope, now} }

// OtherError means that another backfill of the source is running.
type OtherError struct{ Job Job }

// Error implements error.
func (e *OtherError) Error() string {
	w := e.Job.Window
	return fmt.Sprintf("another backfill of the source is running, from %s to %s: leave out --from to follow it, or end it with --cancel",
		w.From.Format(time.RFC3339), w.To.Format(time.RFC3339))
}

// Errors of a Store.
var (
	// ErrNone means that the backfill does not exist, or is not running.
	ErrNone = errors.New("no such backfill")
	// ErrEmpty means that the wanted range begins in the future, or not before its end.
	ErrEmpty = errors.New("the time range does not begin before its end and before the present time")
)

const columns = "id, source, from_at, to_at, partitions, parallel, state, error, created_at, updated_at, listed, stored, requests"

// Start starts a backfill with the source, window, partitions and parallelism of `wanted`, and returns the backfill. If
// wanted.Window has no end or ends in the future, the backfill ends at the present time. If no time range is left, the
// error is [ErrEmpty].
//
// If the last backfill of the source is not done and matches `wanted` (see continues), Start continues that backfill
// with the new parallelism, and sets its counts of failures to 0. If another backfill of the source is running, the
// error is an [*OtherError].
func (s *Store) Start(ctx context.Context, wanted Job) (Job, error) {
	if wanted.Parallel < 1 || wanted.Parallel > mostParallel {
		return Job{}, fmt.Errorf("--parallel: %d is not between 1 and %d", wanted.Parallel, mostParallel)
	}
	slices.Sort(wanted.Partitions)
	wanted.Partitions = slices.Compact(wanted.Partitions)
	now := s.now()
	var job Job
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		if err := s.purge(tx, now); err != nil {
			return err
		}
		last, err := s.last(tx, wanted.Source)
		switch {
		case err == nil && last.continues(&wanted):
			job = last
			job.State, job.Parallel, job.Error = Running, wanted.Parallel, ""
			_, err = tx.Exec(`UPDATE source_backfill SET state = 'running', parallel = $2, error = '', updated_at = $3, finished_at = NULL WHERE id = $1`,
				job.ID, job.Parallel, now.UnixMicro())
			if err == nil {
				_, err = tx.Exec("UPDATE source_backfill_part SET failures = 0 WHERE backfill_id = $1", job.ID)
			}
			return err
		case err == nil && last.State == Running:
			return &OtherError{last}
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
		job = wanted
		if job.Window.To.IsZero() || job.Window.To.After(now) {
			job.Window.To = now.Truncate(time.Second)
		}
		if !job.Window.From.Before(job.Window.To) {
			return ErrEmpty
		}
		job.ID, job.State, job.Created, job.Updated = "bf_"+ulid.Make().String(), Running, now, now
		return s.insert(tx, &job)
	})
	if err != nil {
		return Job{}, fmt.Errorf("starting a backfill of source %q: %w", wanted.Source, err)
	}
	return job, nil
}

// continues reports whether Start continues j: j is not done, and has the start and the partitions of `wanted`. If
// `wanted` has an end, j must have the same end. If `wanted` has none, j may have any end but must not be cancelled.
func (j *Job) continues(wanted *Job) bool {
	if j.State == Done || !j.Window.From.Equal(wanted.Window.From) || !slices.Equal(j.Partitions, wanted.Partitions) {
		return false
	}
	if wanted.Window.To.IsZero() {
		return j.State != Cancelled
	}
	return j.Window.To.Equal(wanted.Window.To)
}

func (s *Store) insert(tx *sqlstore.Tx, j *Job) error {
	partitions := ""
	if len(j.Partitions) > 0 {
		text, err := json.Marshal(j.Partitions)
		if err != nil {
			return err
		}
		partitions = string(text)
	}
	_, err := tx.Exec(`INSERT INTO source_backfill (id, scope, source, from_at, to_at, partitions, parallel, state, error, created_at, updated_at, listed, stored, requests)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, '', $9, $9, 0, 0, 0)`,
		j.ID, s.scope, j.Source, j.Window.From.UnixMicro(), j.Window.To.UnixMicro(), partitions, j.Parallel, string(j.State), j.Created.UnixMicro())
	return err
}

// purge deletes the backfills that ended more than keepJobs ago.
func (s *Store) purge(tx *sqlstore.Tx, now time.Time) error {
	const old = "SELECT id FROM source_backfill WHERE scope = $1 AND finished_at < $2"
	limit := now.Add(-keepJobs).UnixMicro()
	if _, err := tx.Exec("DELETE FROM source_backfill_part WHERE backfill_id IN ("+old+")", s.scope, limit); err != nil {
		return err
	}
	_, err := tx.Exec("DELETE FROM source_backfill WHERE scope = $1 AND finished_at < $2", s.scope, limit)
	return err
}

// last returns the last backfill of a source, without the progress of its partitions.
func (s *Store) last(q sqlstore.Querier, source string) (Job, error) {
	return scanJob(q.QueryRow("SELECT "+columns+" FROM source_backfill WHERE scope = $1 AND source = $2 ORDER BY id DESC LIMIT 1", s.scope, source))
}

func scanJob(row sqlstore.Scanner) (j Job, err error) {
	var from, to, created, updated, listed int64
	var partitions, state string
	if err := row.Scan(&j.ID, &j.Source, &from, &to, &partitions, &j.Parallel, &state, &j.Error, &created, &updated, &listed, &j.Stored, &j.Requests); err != nil {
		return j, err
	}
	j.Window = ingest.Window{From: time.UnixMicro(from).UTC(), To: time.UnixMicro(to).UTC()}
	j.State, j.Listed = State(state), listed == 1
	j.Created, j.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	if partitions != "" {
		err = json.Unmarshal([]byte(partitions), &j.Partitions)
	}
	return j, err
}

// Running returns the ids of the running backfills, by source.
func (s *Store) Running(ctx context.Context) (map[string]string, error) {
	all := make(map[string]string)
	err := sqlstore.Each(s.db.View(ctx), func(row sqlstore.Scanner) error {
		var id, source string
		err := row.Scan(&id, &source)
		all[source] = id
		return err
	}, "SELECT id, source FROM source_backfill WHERE scope = $1 AND state = 'running'", s.scope)
	if err != nil {
		return nil, fmt.Errorf("reading the running backfills: %w", err)
	}
	return all, nil
}

// Last returns the last backfill of each source with its progress, by source.
func (s *Store) Last(ctx context.Context) (map[string]Job, error) {
	view := s.db.View(ctx)
	jobs, err := sqlstore.All(view, scanJob, "SELECT "+columns+` FROM source_backfill
		WHERE scope = $1 AND id = (SELECT max(id) FROM source_backfill AS b WHERE b.scope = $1 AND b.source = source_backfill.source)`, s.scope)
	if err != nil {
		return nil, fmt.Errorf("reading the backfills: %w", err)
	}
	all := make(map[string]Job, len(jobs))
	for _, j := range jobs {
		if err := s.measure(view, &j); err != nil {
			return nil, err
		}
		all[j.Source] = j
	}
	return all, nil
}

// Find returns the last backfill of a source with its progress. The error is [ErrNone] if there was none.
func (s *Store) Find(ctx context.Context, source string) (Job, error) {
	view := s.db.View(ctx)
	j, err := s.last(view, source)
	if errors.Is(err, sql.ErrNoRows) {
		return j, ErrNone
	}
	if err != nil {
		return j, fmt.Errorf("reading the backfill of source %q: %w", source, err)
	}
	err = s.measure(view, &j)
	return j, err
}

// measure counts the partitions of a backfill and computes the fetched fraction.
func (s *Store) measure(q sqlstore.Querier, j *Job) error {
	var fetched sql.NullFloat64
	err := q.QueryRow(`SELECT count(*), COALESCE(sum(CASE WHEN fetched_from <= $2 THEN 1 ELSE 0 END), 0),
		COALESCE(sum(CASE WHEN failures > 0 THEN 1 ELSE 0 END), 0), avg($3 - fetched_from)
		FROM source_backfill_part WHERE backfill_id = $1`, j.ID, j.Window.From.UnixMicro(), j.Window.To.UnixMicro()).
		Scan(&j.Parts, &j.Complete, &j.Failing, &fetched)
	if err != nil {
		return fmt.Errorf("reading the progress of backfill %s: %w", j.ID, err)
	}
	if whole := j.Window.To.Sub(j.Window.From); whole > 0 {
		j.Fraction = min(1, fetched.Float64/float64(whole.Microseconds()))
	}
	return nil
}

// Cancel ends the running backfill of a source. The error is [ErrNone] if none is running.
func (s *Store) Cancel(ctx context.Context, source string) error {
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE source_backfill SET state = 'cancelled', updated_at = $3, finished_at = $3 WHERE scope = $1 AND source = $2 AND state = 'running'",
			s.scope, source, s.now().UnixMicro())
		if err == nil && n == 0 {
			err = ErrNone
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrNone) {
		return fmt.Errorf("cancelling the backfill of source %q: %w", source, err)
	}
	return err
}

// load returns a running backfill and its partitions. The error is [ErrNone] if the backfill is not running.
func (s *Store) load(ctx context.Context, id string) (Job, []*part, error) {
	view := s.db.View(ctx)
	j, err := scanJob(view.QueryRow("SELECT "+columns+" FROM source_backfill WHERE id = $1 AND state = 'running'", id))
	if errors.Is(err, sql.ErrNoRows) {
		return j, nil, ErrNone
	}
	if err != nil {
		return j, nil, fmt.Errorf("reading backfill %s: %w", id, err)
	}
	parts, err := sqlstore.All(view, func(row sqlstore.Scanner) (*part, error) {
		var p part
		var fields string
		var from int64
		if err := row.Scan(&p.key, &fields, &from, &p.failures); err != nil {
			return nil, err
		}
		p.from = time.UnixMicro(from).UTC()
		return &p, json.Unmarshal([]byte(fields), &p.fields)
	}, "SELECT part, fields, fetched_from, failures FROM source_backfill_part WHERE backfill_id = $1 ORDER BY part", id)
	if err != nil {
		return j, nil, fmt.Errorf("reading the partitions of backfill %s: %w", id, err)
	}
	return j, parts, nil
}

// partsPerChange is the largest number of partitions that one transaction stores. On SQLite, a longer transaction would
// make other writers wait too long.
const partsPerChange = 500

// list stores the partitions of a backfill, and then sets its column `listed`. It is idempotent, so the caller can call
// it again after an error.
func (s *Store) list(ctx context.Context, j *Job, parts []*part) error {
	statement := sqlstore.NewBatchStatement(0, "INSERT INTO source_backfill_part (backfill_id, part, fields, fetched_from, failures) VALUES ",
		"(?, ?, ?, ?, 0)", " ON CONFLICT (backfill_id, part) DO NOTHING")
	for chunk := range slices.Chunk(parts, partsPerChange) {
		err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
			return statement.Each(len(chunk), func(text string, from, to int) error {
				args := make([]any, 0, 4*(to-from))
				for _, p := range chunk[from:to] {
					fields, err := json.Marshal(p.fields)
					if err != nil {
						return err
					}
					args = append(args, j.ID, p.key, string(fields), j.Window.To.UnixMicro())
				}
				_, err := tx.Exec(text, args...)
				return err
			})
		})
		if err != nil {
			return fmt.Errorf("storing the partitions of backfill %s: %w", j.ID, err)
		}
	}
	return s.change(ctx, j.ID, "listed = 1", nil)
}

// change sets columns of a running backfill: `set` has the assignments in SQL, `args` the values from $3 on. If `more`
// is not nil, the same transaction calls it. If the backfill is not running, the error is [ErrNone].
func (s *Store) change(ctx context.Context, id, set string, more func(tx *sqlstore.Tx) error, args ...any) error {
	err := s.db.Update(ctx, func(tx *sqlstore.Tx) error {
		n, err := tx.Exec("UPDATE source_backfill SET updated_at = $2, "+set+" WHERE id = $1 AND state = 'running'",
			append([]any{id, s.now().UnixMicro()}, args...)...)
		if err == nil && n == 0 {
			err = ErrNone
		}
		if err == nil && more != nil {
			err = more(tx)
		}
		return err
	})
	if err != nil && !errors.Is(err, ErrNone) {
		return fmt.Errorf("storing the progress of backfill %s: %w", id, err)
	}
	return err
}

// advance stores the progress of partitions of a backfill, and adds `stored` to its number of stored readings.
func (s *Store) advance(ctx context.Context, id string, parts map[string]part, stored int) error {
	return s.change(ctx, id, "stored = stored + $3", func(tx *sqlstore.Tx) error {
		for _, key := range slices.Sorted(maps.Keys(parts)) {
			p := parts[key]
			if _, err := tx.Exec("UPDATE source_backfill_part SET fetched_from = $3, failures = $4 WHERE backfill_id = $1 AND part = $2",
				id, key, p.from.UnixMicro(), p.failures); err != nil {
				return err
			}
		}
		return nil
	}, stored)
}

// note adds `requests` to the request count of a backfill, and replaces its last error by `fault` ("" for none).
func (s *Store) note(ctx context.Context, id string, requests int, fault string) error {
	return s.change(ctx, id, "requests = requests + $3, error = $4", nil, requests, fault)
}

// finish ends a backfill. It keeps the partitions, so that Start can continue a failed backfill.
func (s *Store) finish(ctx context.Context, j *Job, state State, fault string) error {
	return s.change(ctx, j.ID, "state = $3, error = $4, finished_at = $5", nil, string(state), fault, s.now().UnixMicro())
}
