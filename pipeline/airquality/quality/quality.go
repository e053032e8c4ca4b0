// Package quality tests readings inside ClickHouse, in the manner of QARTOD, the standard for real-time ocean data.
// Each test has a name and a version, and the results of each test are stored separately. The flag of a reading is its
// worst result. The package also corrects low-cost sensors, and fits sensors to reference stations beside them.
//
// The package never changes stored readings. It is the only writer of the tables `reading_quality`, `nox_form`,
// `corrected` and `colocation`.
package quality

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/schema/statement"
)

// Conn is the part of a ClickHouse connection that a Tester uses.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
}

// Tester tests the readings of one database. Its methods are idempotent and safe for
// concurrent use.
type Tester struct {
	conn     Conn
	database string
	settings Settings
	sql      statements
}

// New returns a Tester for a database. It runs no test yet. An error means that the template of an SQL statement is
// invalid.
func New(conn Conn, database string, settings Settings) (*Tester, error) {
	sql, err := newStatements(database, settings)
	if err != nil {
		return nil, err
	}
	return &Tester{conn: conn, database: database, settings: settings, sql: sql}, nil
}

// Values runs the tests that compare a reading with thresholds, or with readings of the same station and time. It tests
// the stations' readings whose averaging intervals end between `from` and `to`, both included. It stores results other
// than Good, and removes outdated results. It is idempotent.
func (t *Tester) Values(ctx context.Context, stations []string, from, to time.Time) error {
	return t.run(ctx, t.sql.values, columnstore.NameGroups(stations), from, to)
}

// Series runs the tests that compare a reading with earlier and later readings and with other stations. It tests all
// readings whose results may depend on the stations' readings between `from` and `to`, even readings outside this time
// span and of other stations. It stores and removes results like [Tester.Values].
func (t *Tester) Series(ctx context.Context, stations []string, from, to time.Time) error {
	return t.run(ctx, t.sql.series, slices.Chunk(stations, seriesChunk), from, to)
}

// Run runs Values and then Series.
func (t *Tester) Run(ctx context.Context, stations []string, from, to time.Time) error {
	if err := t.Values(ctx, stations, from, to); err != nil {
		return err
	}
	return t.Series(ctx, stations, from, to)
}

// Range is a range of station ids in alphabetical order, both ends included.
type Range struct{ First, Last string }

// Parameters returns the query parameters of a statement that [Between] has returned.
func (r Range) Parameters() clickhouse.Parameters {
	return clickhouse.Parameters{"first": r.First, "last": r.Last}
}

// Between changes a statement for a list of stations into a statement for a [Range] of stations. ClickHouse reads a
// range of the tables' keys much faster than it reads a list of thousands of names.
func Between(statement string) string {
	return strings.ReplaceAll(statement, " IN {stations:Array(String)}", " BETWEEN {first:String} AND {last:String}")
}

// ValuesIn runs [Tester.Values] and then [Tester.Correct], for a range of stations.
func (t *Tester) ValuesIn(ctx context.Context, stations Range, from, to time.Time) error {
	for _, s := range append(slices.Clip(t.sql.values), t.sql.correction) {
		s.text = Between(s.text)
		if err := t.execWith(ctx, s, stations.Parameters(), from, to); err != nil {
			return fmt.Errorf("testing readings (%s): %w", s.name, err)
		}
	}
	return nil
}

func (t *Tester) run(ctx context.Context, tests []testSQL, groups iter.Seq[[]string], from, to time.Time) error {
	for group := range groups {
		for _, s := range tests {
			if err := t.exec(ctx, s, group, from, to); err != nil {
				return fmt.Errorf("testing readings (%s): %w", s.name, err)
			}
		}
	}
	return nil
}

// Correct writes corrected PM2.5 values of low-cost sensors to the table `corrected`. It covers the sensors among the
// stations, and readings that end between `from` and `to`, both included. A value can be corrected only if the sensor
// also has a reading of humidity for the same averaging interval.
func (t *Tester) Correct(ctx context.Context, stations []string, from, to time.Time) error {
	for group := range columnstore.NameGroups(stations) {
		if err := t.exec(ctx, t.sql.correction, group, from, to); err != nil {
			return fmt.Errorf("correcting sensors: %w", err)
		}
	}
	return nil
}

// Colocate fits the PM2.5 of low-cost sensors to the reference stations beside them. It uses the hours from `from` to
// `to`, and stores the fits in the table `colocation`. A sensor is fitted to the reference station that
// [Settings.Colocated] names for the sensor, otherwise to the nearest reference station within 1 km. A fit needs at
// least 72 hours (fitHours) in which both have PM2.5 and the sensor has humidity.
func (t *Tester) Colocate(ctx context.Context, from, to time.Time) error {
	if err := t.exec(ctx, t.sql.colocation, nil, from, to); err != nil {
		return fmt.Errorf("fitting sensors to reference stations: %w", err)
	}
	return nil
}

// seriesChunk is the maximum number of stations in one statement of Series. It
// limits memory. One day of 2,000 sensors with a reading each minute is 3 million
// readings.
const seriesChunk = 2000

// These are the earliest and the latest time for a test. The SQL adds and subtracts durations, and
// the result must be in the range of DateTime, 1970 to 2106.
var (
	earliest = time.Date(1970, 6, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2105, 12, 1, 0, 0, 0, 0, time.UTC)
)

func (t *Tester) exec(ctx context.Context, s testSQL, stations []string, from, to time.Time) error {
	parameters := clickhouse.Parameters{}
	if stations != nil {
		parameters["stations"] = array(stations)
	}
	return t.execWith(ctx, s, parameters, from, to)
}

// execWith adds `from` and `to` to the query parameters and runs the statement, or its variant `short` (see shortSpan).
func (t *Tester) execWith(ctx context.Context, s testSQL, parameters clickhouse.Parameters, from, to time.Time) error {
	bound := func(t time.Time) string {
		switch {
		case t.Before(earliest):
			t = earliest
		case t.After(latest):
			t = latest
		}
		return t.UTC().Format(time.DateTime)
	}
	parameters["from"], parameters["to"] = bound(from), bound(to)
	// ClickHouse treats an INSERT as a retry, and drops it, if an earlier INSERT had the same rows and the same
	// deduplication token. A new token for each INSERT prevents that. Equal rows may be intended: they can undo a
	// change that was made after the first INSERT.
	own := clickhouse.Context(ctx, clickhouse.WithParameters(parameters),
		clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnstore.NewToken()}))
	if s.short != "" && to.Sub(from) <= shortSpan {
		return t.conn.Exec(own, s.short)
	}
	return t.conn.Exec(own, s.text)
}

// array returns names as the value of a query parameter of type Array(String).
func array(names []string) string {
	return "[" + statement.QuoteAll(names) + "]"
}
