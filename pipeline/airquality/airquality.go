// Package airquality turns readings into figures: hours of stations, hours of
// cities and days of cities, computed inside ClickHouse with the index's rule
// from schema/naqi.
//
// It is the only writer of the tables station_hour, city_hour, city_day and
// rollup.
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

	"vayu/internal/columnar"
	"vayu/schema"
)

// Conn is what a roll-up needs of ClickHouse.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
	PrepareBatch(ctx context.Context, query string, opts ...driver.PrepareBatchOption) (driver.Batch, error)
}

// Rollup keeps the figures of one database in step with its readings. What has
// to be computed follows from the database alone (readings stored since the
// last roll-up began), so a roll-up that was killed is made up for by the next,
// in whichever process that runs.
type Rollup struct {
	conn     Conn
	database string
	sql      statements
	log      *slog.Logger
	metrics  *metrics

	mu sync.Mutex // one roll-up at a time
}

// Result says what a roll-up computed.
type Result struct {
	Stations int           // stations whose hours were computed
	From, To time.Time     // first and last hour, UTC; zero when there was nothing to do
	Elapsed  time.Duration // wall time
}

// New makes the roll-up of a database. It does nothing until it is asked. Kinds are
// those of the stations that count for a city, [schema.Reference] if there are none.
func New(conn Conn, database string, log *slog.Logger, reg prometheus.Registerer, kinds ...schema.StationKind) (*Rollup, error) {
	if len(kinds) == 0 {
		kinds = []schema.StationKind{schema.Reference}
	}
	sql, err := newStatements(database, kinds)
	if err != nil {
		return nil, err
	}
	return &Rollup{conn: conn, database: database, sql: sql, log: log.With("database", database), metrics: newMetrics(reg, database)}, nil
}

// reach is how far forward a reading has an effect: it is part of the 24-hour
// means of its own hour and of the 23 that follow, and of the 8-hour means of 7
// hours, the largest of which counts for 23 more.
const reach = 30 * time.Hour

// overlap is by how much a roll-up looks back behind the start of the one
// before: a reading's stamp is taken when its insert begins, and others see it
// when the insert ends. A batch takes well below a second; a minute leaves room
// for a machine that is busy and for the clocks of two servers.
const overlap = time.Minute

// Increment computes every hour that readings stored since the last roll-up
// can have changed, and nothing else. With nothing new it does nothing.
// Running it again gives the same rows.
func (r *Rollup) Increment(ctx context.Context) (Result, error) {
	return r.run(ctx, "increment", r.since, true)
}

// Backfill computes every hour from one instant to another again, for all
// stations. It does not count as a look for new readings.
func (r *Rollup) Backfill(ctx context.Context, from, to time.Time) (Result, error) {
	return r.run(ctx, "backfill", func(ctx context.Context) ([]chunk, error) {
		return r.between(ctx, from, to)
	}, false)
}

type planner func(context.Context) ([]chunk, error)

func (r *Rollup) run(ctx context.Context, kind string, plan planner, complete bool) (result Result, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	begin := time.Now()
	defer func() { r.metrics.observe(kind, result, err, time.Since(begin)) }()

	started, err := r.serverTime(ctx)
	if err != nil {
		return Result{}, err
	}
	chunks, err := plan(ctx)
	if err != nil {
		return Result{}, err
	}
	stations := make(map[string]struct{})
	for _, c := range chunks {
		if err := r.compute(ctx, c); err != nil {
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
	if len(chunks) == 0 {
		return result, nil
	}
	if !complete {
		started = time.Unix(0, 0)
	}
	if err := r.record(ctx, started, result); err != nil {
		return Result{}, err
	}
	r.log.Info("rolled up", "kind", kind, "stations", result.Stations,
		"from", result.From, "to", result.To, "elapsed", result.Elapsed.Round(time.Millisecond))
	return result, nil
}

func (r *Rollup) compute(ctx context.Context, c chunk) error {
	for _, statement := range []string{r.sql.stationHour, r.sql.cityHour, r.sql.cityDay} {
		// Figures that are what they were before the last ones are no repetition to skip.
		own := clickhouse.Context(c.parameters(ctx), clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnar.NewToken()}))
		if err := r.conn.Exec(own, statement); err != nil {
			return err
		}
	}
	return nil
}

// recordColumns are those of a row of rollup that [Rollup.record] gives values to.
var recordColumns = []clickhouse.ColumnNameAndType{
	{Name: "started", Type: "DateTime64(3, 'UTC')"}, {Name: "hours_from", Type: "DateTime('UTC')"},
	{Name: "hours_to", Type: "DateTime('UTC')"}, {Name: "stations", Type: "UInt32"},
}

// record marks a roll-up as done: readings stored before started need no other,
// and answers over its hours are out of date.
func (r *Rollup) record(ctx context.Context, started time.Time, result Result) error {
	err := columnar.Insert(ctx, r.conn, r.database+".rollup", columnar.NewToken(), recordColumns, []any{
		[]time.Time{started}, []time.Time{result.From}, []time.Time{result.To}, []uint32{uint32(result.Stations)},
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
		return now, fmt.Errorf("asking ClickHouse for the time: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&now); err != nil {
			return now, fmt.Errorf("asking ClickHouse for the time: %w", err)
		}
	}
	return now, rows.Err()
}
