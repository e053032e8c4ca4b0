// Package quality tests readings inside ClickHouse, as QARTOD does: each test
// has a name and a version, tests and verdict are kept apart, and the worst
// test decides. It also corrects low-cost sensors and fits them to reference
// stations beside them.
//
// Raw values never change. The package is the only writer of the tables
// reading_quality, nox_form, corrected and colocation.
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
)

// Conn is what a Judge needs of ClickHouse.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
}

// Judge tests the readings of one database. Its methods are safe for
// concurrent use; two runs over the same readings leave what one leaves.
type Judge struct {
	conn     Conn
	database string
	settings Settings
	sql      statements
}

// New makes the judge of a database. It does nothing until it is asked.
func New(conn Conn, database string, settings Settings) (*Judge, error) {
	sql, err := newStatements(database, settings)
	if err != nil {
		return nil, err
	}
	return &Judge{conn: conn, database: database, settings: settings, sql: sql}, nil
}

// Values tests readings by themselves and against those of the same time: the
// readings of stations from one instant to another (both included, values of
// reading.at). It stores results that are not good, and removes those that no
// longer hold. Running it again changes nothing.
func (t *Judge) Values(ctx context.Context, stations []string, from, to time.Time) error {
	return t.run(ctx, t.sql.values, columnstore.NameGroups(stations), from, to)
}

// Series tests readings against those before and after them and against other
// stations: all readings whose results the readings of stations from one instant
// to another can have changed. It stores and removes results as [Judge.Values].
func (t *Judge) Series(ctx context.Context, stations []string, from, to time.Time) error {
	return t.run(ctx, t.sql.series, slices.Chunk(stations, seriesChunk), from, to)
}

// Run is Values, then Series.
func (t *Judge) Run(ctx context.Context, stations []string, from, to time.Time) error {
	if err := t.Values(ctx, stations, from, to); err != nil {
		return err
	}
	return t.Series(ctx, stations, from, to)
}

func (t *Judge) run(ctx context.Context, tests []statement, groups iter.Seq[[]string], from, to time.Time) error {
	for group := range groups {
		for _, s := range tests {
			if err := t.exec(ctx, s, group, from, to); err != nil {
				return fmt.Errorf("testing readings (%s): %w", s.name, err)
			}
		}
	}
	return nil
}

// Correct brings table corrected up to date for the low-cost sensors among
// stations, from one instant to another, both included.
func (t *Judge) Correct(ctx context.Context, stations []string, from, to time.Time) error {
	for group := range columnstore.NameGroups(stations) {
		if err := t.exec(ctx, t.sql.correction, group, from, to); err != nil {
			return fmt.Errorf("correcting sensors: %w", err)
		}
	}
	return nil
}

// Colocate fits the PM2.5 of every low-cost sensor beside a reference station
// to that station, over the hours from one instant to another, and stores the
// fits in table colocation. A sensor is beside the nearest reference station
// within 1 km, and beside the one that [Settings.Colocated] names.
func (t *Judge) Colocate(ctx context.Context, from, to time.Time) error {
	if err := t.exec(ctx, t.sql.colocation, nil, from, to); err != nil {
		return fmt.Errorf("fitting sensors to reference stations: %w", err)
	}
	return nil
}

// seriesChunk is how many stations one test of series takes. It bounds memory:
// a day of 2,000 sensors by the minute is 3 million readings.
const seriesChunk = 2000

// The instants between which a DateTime can be moved by the tests' spans
// without leaving its range, 1970 to 2106.
var (
	earliest = time.Date(1970, 6, 1, 0, 0, 0, 0, time.UTC)
	latest   = time.Date(2105, 12, 1, 0, 0, 0, 0, time.UTC)
)

func (t *Judge) exec(ctx context.Context, s statement, stations []string, from, to time.Time) error {
	bound := func(t time.Time) string {
		switch {
		case t.Before(earliest):
			t = earliest
		case t.After(latest):
			t = latest
		}
		return t.UTC().Format(time.DateTime)
	}
	parameters := clickhouse.Parameters{"from": bound(from), "to": bound(to)}
	if stations != nil {
		parameters["stations"] = array(stations)
	}
	// Results that are what they were before the last ones are no repetition to skip.
	own := clickhouse.Context(ctx, clickhouse.WithParameters(parameters),
		clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnstore.NewToken()}))
	if s.short != "" && to.Sub(from) <= shortSpan {
		return t.conn.Exec(own, s.short)
	}
	return t.conn.Exec(own, s.text)
}

// array writes names as a parameter of type Array(String).
func array(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = literal(name)
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

// literal writes a string as SQL.
func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
}
