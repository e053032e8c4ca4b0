// Package airquality computes means and indices from readings inside ClickHouse;
// one such computation is a roll-up. It computes plain means of hours and days per
// station and parameter. From those it computes the rolling means and indices of
// stations and cities, by the rule of schema/naqi.
//
// It is the only writer of the tables station_parameter_hour,
// station_parameter_day, station_hour, city_hour, city_day and rollup.
package airquality

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/pipeline/airquality/quality"
	"vayu/schema/air"
)

// Conn is the part of a ClickHouse connection that a roll-up uses.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Rollup computes the means and indices of one database from its readings. The work
// to do follows from the database alone: readings stored since the last roll-up
// began. So the next roll-up, in any process, completes the work of a killed one.
type Rollup struct {
	conn    Conn
	tables  columnstore.Params
	tester  *quality.Tester
	steps   []step
	keep    retention
	log     *slog.Logger
	metrics *metrics

	mu sync.Mutex // one roll-up at a time
}

// Result describes what a roll-up computed.
type Result struct {
	Stations int           // stations whose hours were computed
	From, To time.Time     // first and last hour, UTC; zero if nothing was computed
	Elapsed  time.Duration // wall time
	Tests    time.Duration // share of the quality tests that ran before the figures
}

// Config configures a Rollup.
type Config struct {
	Conn   Conn
	Tables columnstore.Params // the database and its cluster
	// Kinds are the kinds of stations that count for a city; empty for
	// [air.Reference].
	Kinds   []air.StationKind
	Quality quality.Settings
	// KeepReadings and KeepHours are the retention of readings and of hours; 0 for
	// ever. Computed rows stay when the rows that they were computed from expire.
	KeepReadings, KeepHours time.Duration
	Log                     *slog.Logger
	Metrics                 prometheus.Registerer
}

// New returns the Rollup of a database without running it. An error means that a
// statement's template is invalid.
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
		conn: c.Conn, tables: c.Tables, tester: tester, steps: steps, keep: retention{c.KeepReadings, c.KeepHours},
		log: c.Log.With("database", c.Tables.Database), metrics: newMetrics(c.Metrics, c.Tables.Database),
	}, nil
}

// reach is how long a reading affects later hours. It is part of the 8-hour means
// of its own hour and of the next 7. The last of these means affects 23 more hours.
const reach = 30 * time.Hour

// Update runs [Rollup.Increment] and [Rollup.TestSeries]. The result is that of the
// increment.
func (r *Rollup) Update(ctx context.Context) (Result, error) {
	result, err := r.Increment(ctx)
	if err != nil {
		return result, err
	}
	_, err = r.TestSeries(ctx)
	return result, err
}

// Increment computes only the hours that may have changed since the last roll-up,
// through stored or corrected readings, withdrawals or relocated stations. It is
// idempotent. Readings of the last two days count before [Rollup.TestSeries] has
// compared them with other readings.
func (r *Rollup) Increment(ctx context.Context) (Result, error) {
	wanted, err := r.meansWanted(ctx)
	if err != nil {
		return Result{}, err
	}
	if wanted {
		return r.afterMigration(ctx)
	}
	return r.run(ctx, "increment", func(ctx context.Context, started time.Time) (plan, error) {
		p, err := r.since(ctx, started)
		if err != nil {
			return p, err
		}
		begin := time.Now()
		p.chunks, err = r.testIncrement(ctx, p, started)
		p.tests = time.Since(begin)
		return p, err
	})
}

// Backfill recomputes every hour from one instant to another for all stations. It
// does not move the mark, after which readings are new.
func (r *Rollup) Backfill(ctx context.Context, from, to time.Time) (Result, error) {
	return r.run(ctx, "backfill", func(ctx context.Context, started time.Time) (plan, error) {
		chunks, err := r.between(ctx, from, to)
		if err != nil {
			return plan{}, err
		}
		chunks, err = r.testAll(ctx, chunks, resultFilter{since: started})
		return plan{chunks: chunks, started: time.Unix(0, 0)}, err
	})
}

// planner runs the quality tests that precede a roll-up and plans its work. started
// is the time of ClickHouse's clock.
type planner func(ctx context.Context, started time.Time) (plan, error)

func (r *Rollup) run(ctx context.Context, kind string, planned planner) (result Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := time.Now()
	defer func() { r.metrics.observe(kind, result, err, time.Since(begin)) }()

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
	if err := r.record(ctx, p, result); err != nil {
		return Result{}, err
	}
	r.log.Info("rolled up", "kind", kind, "stations", result.Stations,
		"from", result.From, "to", result.To, "elapsed", result.Elapsed.Round(time.Millisecond))
	return result, nil
}

// compute runs the steps over a chunk, a range of hours of some stations. Each step
// writes rows stamped with started. It then removes rows of the chunk with an older
// stamp, because their hours have lost their readings or their AQI.
func (r *Rollup) compute(ctx context.Context, c chunk, started time.Time) error {
	for _, s := range r.steps {
		if c.citiesOnly && !s.ofCities || c.meansOnly && !s.ofMeans {
			continue
		}
		ctx := c.parameters(ctx, started, r.keep)
		begun := time.Now()
		if err := r.write(ctx, s.insert); err != nil {
			return fmt.Errorf("computing %s: %w", s.table, err)
		}
		if err := r.sweep(ctx, s, started); err != nil {
			return fmt.Errorf("removing stale rows of %s: %w", s.table, err)
		}
		r.log.DebugContext(ctx, "computed", "table", s.table, "stations", len(c.stations), "from", c.from, "to", c.to, "elapsed", time.Since(begun).Round(time.Millisecond))
	}
	return nil
}

// recordColumns are the columns of table rollup that [Rollup.record] sets.
var recordColumns = []clickhouse.ColumnNameAndType{
	{Name: "started", Type: "DateTime64(3, 'UTC')"}, {Name: "seen", Type: "UInt64"}, {Name: "tested", Type: "DateTime64(3, 'UTC')"}, {Name: "hours_from", Type: "DateTime('UTC')"},
	{Name: "hours_to", Type: "DateTime('UTC')"}, {Name: "stations", Type: "UInt32"}, {Name: "means", Type: "Int8"},
}

// record stores that a roll-up is done. The next roll-up skips readings stored
// before its start, and package query reloads its hours.
func (r *Rollup) record(ctx context.Context, p plan, result Result) error {
	epoch := time.Unix(0, 0)
	if result.From.IsZero() { // the tests changed no figure
		result.From, result.To = p.tested, p.tested
	}
	if p.tested.IsZero() {
		p.tested = epoch
	}
	err := columnstore.Insert(ctx, r.conn, r.tables.Database+".rollup", columnstore.NewToken(), recordColumns, []any{
		[]time.Time{p.started}, []uint64{p.fingerprint}, []time.Time{p.tested}, []time.Time{result.From}, []time.Time{result.To}, []uint32{uint32(result.Stations)}, []int8{p.means},
	})
	if err != nil {
		return fmt.Errorf("recording a roll-up: %w", err)
	}
	return nil
}

// serverTime returns ClickHouse's clock, which also stamps the readings.
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
