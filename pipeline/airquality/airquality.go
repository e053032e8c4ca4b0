// Package airquality computes means and indices from readings inside ClickHouse.
// One such computation is a roll-up. A roll-up first computes plain means (of one
// hour or one day) for each station and parameter. From these it computes the
// rolling means and indices of stations and cities, by the rule of schema/naqi.
//
// This package is the only writer of the tables station_parameter_hour,
// station_parameter_day, station_hour, city_hour, city_day and rollup.
package airquality

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/migration"
	"vayu/pipeline/airquality/quality"
	"vayu/schema/air"
)

// Conn is the part of a ClickHouse connection that a roll-up uses.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Rollup computes the means and indices of one database from its readings. The rows of the database alone determine
// which work is due, for example the readings that were stored since the last roll-up began. If a process is killed
// during a roll-up, the next roll-up of any process completes the work.
type Rollup struct {
	conn    Conn
	tables  migration.Params
	tester  *quality.Tester
	steps   []step
	kinds   string // SQL literals of the kinds that count in the AQI of their city
	keep    retention
	log     *slog.Logger
	metrics *metrics

	mu sync.Mutex // one roll-up at a time
}

// Result describes what a roll-up computed.
type Result struct {
	Stations int           // stations whose hours, or the hours of whose cities, were computed
	From, To time.Time     // first and last hour, UTC; zero if nothing was computed
	Elapsed  time.Duration // wall time
	Tests    time.Duration // part of Elapsed that the preceding quality tests took
}

// String describes the result for operators.
func (r Result) String() string {
	return fmt.Sprintf("computed the hours of %d stations from %s to %s in %s", r.Stations,
		r.From.Format(time.RFC3339), r.To.Format(time.RFC3339), r.Elapsed.Round(time.Millisecond))
}

// Config configures a Rollup.
type Config struct {
	Conn   Conn
	Tables migration.Params // the database and its cluster
	// Kinds are the kinds of stations that count in the AQI of a city. If it is
	// empty, only [air.Reference] counts.
	Kinds   []air.StationKind
	Quality quality.Settings
	// KeepReadings and KeepHours are how long readings and hourly rows are kept. If one is 0, its rows are kept for
	// ever. A roll-up keeps a computed row even if the rows from which it was computed have expired.
	KeepReadings, KeepHours time.Duration
	Log                     *slog.Logger
	Metrics                 prometheus.Registerer
}

// New returns a Rollup for a database. It computes nothing yet. An error means that
// the template of an SQL statement is invalid.
func New(c Config) (*Rollup, error) {
	if len(c.Kinds) == 0 {
		c.Kinds = []air.StationKind{air.Reference}
	}
	tester, err := quality.New(c.Conn, c.Tables.Database, c.Quality)
	if err != nil {
		return nil, err
	}
	steps, err := newSteps(c.Tables, c.Kinds, tester)
	if err != nil {
		return nil, err
	}
	return &Rollup{
		conn: c.Conn, tables: c.Tables, tester: tester, steps: steps, kinds: kindLiterals(c.Kinds), keep: retention{c.KeepReadings, c.KeepHours},
		log: c.Log.With("database", c.Tables.Database), metrics: newMetrics(c.Metrics, c.Tables.Database),
	}, nil
}

// reach is how long a reading affects later hours. A reading is part of the 8-hour means of its own hour and of the
// next 7 hours. The index of an hour uses the 8-hour means of 24 hours, so the last of these means affects 23 more
// hours.
const reach = 30 * time.Hour

// Update runs [Rollup.Increment] and then [Rollup.TestSeries]. It returns the
// result of the increment.
func (r *Rollup) Update(ctx context.Context) (Result, error) {
	result, err := r.Increment(ctx)
	if err != nil {
		return result, err
	}
	_, err = r.TestSeries(ctx)
	return result, err
}

// Increment computes only the hours that may have changed since the last roll-up.
// Hours change because of new or corrected readings, withdrawals and relocated
// stations. Increment is idempotent. Readings of the last two days count at once,
// although [Rollup.TestSeries] compares them with other readings only later.
func (r *Rollup) Increment(ctx context.Context) (Result, error) {
	wanted, err := r.meansWanted(ctx)
	if err != nil {
		return Result{}, err
	}
	if wanted {
		return r.afterMigration(ctx)
	}
	return r.run(ctx, "increment", r.planIncrement)
}

// planIncrement plans the hours that may have changed since the last roll-up, and runs the quality tests that must
// precede the computation of these hours.
func (r *Rollup) planIncrement(ctx context.Context, started time.Time) (plan, error) {
	p, err := r.planSince(ctx, started)
	if err != nil {
		return p, err
	}
	begin := time.Now()
	p.chunks, err = r.testIncrement(ctx, p, started)
	p.tests = time.Since(begin)
	return p, err
}

// Backfill recomputes all hours that depend on readings that end after `from` and not after `to`. It does not move the
// time up to which [Rollup.Increment] has processed readings.
func (r *Rollup) Backfill(ctx context.Context, from, to time.Time) (Result, error) {
	return r.run(ctx, "backfill", func(ctx context.Context, started time.Time) (plan, error) {
		chunks, err := r.planBetween(ctx, from, to)
		if err != nil {
			return plan{}, err
		}
		chunks, err = r.testAll(ctx, chunks, resultFilter{since: started})
		return plan{chunks: chunks, started: time.Unix(0, 0)}, err
	})
}

// planFunc plans the work of a roll-up, and runs the quality tests that must precede the work. `started` is the start
// of the roll-up, by ClickHouse's clock.
type planFunc func(ctx context.Context, started time.Time) (plan, error)

// errPanicked is the error with which [Rollup.run] counts a roll-up that panicked.
var errPanicked = errors.New("the roll-up panicked")

// run waits until no other roll-up runs. Then it runs a roll-up and counts its outcome.
func (r *Rollup) run(ctx context.Context, kind string, planned planFunc) (Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := time.Now()
	result, err := Result{}, errPanicked
	defer func() { r.metrics.observe(kind, result, err, time.Since(begin)) }()
	result, err = r.runPlanned(ctx, kind, planned)
	return result, err
}

func (r *Rollup) runPlanned(ctx context.Context, kind string, planned planFunc) (result Result, err error) {
	begin := time.Now()
	started, err := r.serverTime(ctx)
	if err != nil {
		return Result{}, err
	}
	p, err := planned(ctx, started)
	if err != nil {
		return Result{}, err
	}
	result.Tests = p.tests
	stations := make(map[string]struct{})
	for _, c := range p.chunks {
		if err := r.compute(ctx, c, started); err != nil {
			return Result{}, fmt.Errorf("rolling up %s to %s: %w", c.from.Format(time.RFC3339), c.to.Format(time.RFC3339), err)
		}
		for _, s := range c.stations {
			stations[s] = struct{}{}
		}
		if result.From.IsZero() || c.from.Before(result.From) {
			result.From = c.from
		}
		if c.to.After(result.To) {
			result.To = c.to
		}
	}
	result.Stations, result.Elapsed = len(stations), time.Since(begin)
	if len(p.chunks) == 0 && p.tested.IsZero() {
		return result, nil
	}
	if err := r.recordRollUp(ctx, p, result); err != nil {
		return Result{}, err
	}
	r.log.Info("rolled up", "kind", kind, "stations", result.Stations,
		"from", result.From, "to", result.To, "elapsed", result.Elapsed.Round(time.Millisecond))
	return result, nil
}

// compute runs all steps for a chunk, which is a range of hours of some stations. Each step writes rows with the stamp
// `started`. Then it removes the rows of the chunk with an older stamp, because they no longer have readings or an
// AQI. For a chunk with `between` set, compute runs the steps of cities afterwards, in parts (see countingStations).
func (r *Rollup) compute(ctx context.Context, c chunk, started time.Time) error {
	for _, s := range r.steps {
		switch {
		case c.citiesOnly && !s.ofCities || c.meansOnly && !s.ofMeans || c.between && s.ofCities:
			continue
		case c.between:
			s = *s.between
		}
		if err := r.computeStep(ctx, s, c, started); err != nil {
			return err
		}
	}
	if !c.between || c.meansOnly {
		return nil
	}
	counting, err := r.countingStations(ctx, c)
	if err != nil {
		return err
	}
	for part := range columnstore.NameGroups(counting) {
		if err := r.compute(ctx, chunk{from: c.from, to: c.to, stations: part, citiesOnly: true}, started); err != nil {
			return err
		}
	}
	return nil
}

// computeStep runs one step for a chunk.
func (r *Rollup) computeStep(ctx context.Context, s step, c chunk, started time.Time) error {
	ctx = c.parameters(ctx, started, r.keep)
	begun := time.Now()
	if err := r.write(ctx, s.insert); err != nil {
		return fmt.Errorf("computing %s: %w", s.table, err)
	}
	if err := r.sweep(ctx, s, started); err != nil {
		return fmt.Errorf("removing stale rows of %s: %w", s.table, err)
	}
	r.log.DebugContext(ctx, "computed", "table", s.table, "stations", len(c.stations), "from", c.from, "to", c.to, "elapsed", time.Since(begun).Round(time.Millisecond))
	return nil
}

// write runs a statement that writes rows, with a new deduplication token. If two statements had the same token, a
// replicated table would drop the rows of the second one that equal rows of the first.
func (r *Rollup) write(ctx context.Context, statement string) error {
	return r.conn.Exec(clickhouse.Context(ctx, clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnstore.NewToken()})), statement)
}

// countingStations returns the stations in the id range of a chunk (c.ids) that count in city AQIs, and the city means.
func (r *Rollup) countingStations(ctx context.Context, c chunk) (ids []string, err error) {
	rows, err := r.conn.Query(ctx, "SELECT id FROM "+r.tables.Database+".station FINAL WHERE id BETWEEN ? AND ? AND kind IN ("+r.kinds+", 'city_mean')",
		c.ids().First, c.ids().Last)
	if err != nil {
		return nil, fmt.Errorf("reading the stations of cities: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("reading the stations of cities: %w", err)
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// rollUpColumns are the columns that [Rollup.recordRollUp] sets in the table rollup.
var rollUpColumns = []clickhouse.ColumnNameAndType{
	{Name: "started", Type: "DateTime64(3, 'UTC')"}, {Name: "seen", Type: "UInt64"}, {Name: "tested", Type: "DateTime64(3, 'UTC')"}, {Name: "hours_from", Type: "DateTime('UTC')"},
	{Name: "hours_to", Type: "DateTime('UTC')"}, {Name: "stations", Type: "UInt32"}, {Name: "means", Type: "Int8"},
}

// recordRollUp stores that a roll-up is done. The next roll-up then skips readings that were stored before p.started.
// Package query/snapshot also reads this row, and then refreshes the hours that the roll-up computed.
func (r *Rollup) recordRollUp(ctx context.Context, p plan, result Result) error {
	epoch := time.Unix(0, 0)
	if result.From.IsZero() { // the tests changed no mean or index
		result.From, result.To = p.tested, p.tested
	}
	if p.tested.IsZero() {
		p.tested = epoch
	}
	mark := meansRolledUp
	if p.done {
		mark = meansDone
	}
	err := columnstore.Insert(ctx, r.conn, r.tables.Database+".rollup", columnstore.NewToken(), rollUpColumns, []any{
		[]time.Time{p.started}, []uint64{p.fingerprint}, []time.Time{p.tested}, []time.Time{result.From}, []time.Time{result.To}, []uint32{uint32(result.Stations)}, []int8{mark},
	})
	if err != nil {
		return fmt.Errorf("recording a roll-up: %w", err)
	}
	return nil
}

// serverTime returns the time of ClickHouse's clock. The column `ingested_at` of a reading comes from the same clock,
// so the two times can be compared.
func (r *Rollup) serverTime(ctx context.Context) (now time.Time, err error) {
	rows, err := r.conn.Query(ctx, "SELECT now64(3, 'UTC')")
	if err != nil {
		return now, fmt.Errorf("reading ClickHouse's clock: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&now); err != nil {
			return now, fmt.Errorf("reading ClickHouse's clock: %w", err)
		}
	}
	return now, rows.Err()
}
