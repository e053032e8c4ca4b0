package monitor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

// Ranges of the runs that the monitor reads.
const (
	// week is the age of the oldest runs with which the last runs are compared.
	week = 7 * 24 * time.Hour
	// lastRuns is the number of last runs from which the problems "failing" and "clock" are detected.
	lastRuns = 6
	// fieldRuns is the number of last runs whose fields count as the present fields of a source.
	fieldRuns = 3
)

// facts has the data about a source from which its problems are detected.
type facts struct {
	runs    []runFacts // the last runs of kind live, newest first, at most lastRuns
	first   time.Time  // start of the first run of the last 7 days
	newest  time.Time  // newest reading of the runs of the last 7 days; zero for none
	fields  []share
	units   []share               // one for each parameter and unit
	hours   map[time.Time]float64 // number of readings, by the end of the hour
	clocks  []string              // stations whose times were in the future in the last day, the most frequent first
	compare int                   // number of earlier runs with fields and the same configuration, to compare with
	recent  int                   // how many of the last fieldRuns runs with fields have the present configuration
}

// runFacts has the outcome of one run of a source.
type runFacts struct {
	outcome string
	future  uint64 // values rejected because of a time in the future
}

// share counts the runs of a source that had a field, or a unit of a parameter.
type share struct {
	name   string
	unit   string // unit of the parameter; "" for a field
	recent int    // how many of the last fieldRuns runs
	before int    // how many of the earlier runs with the same configuration
	// latest and earliest are the numbers of the last and the first run with the field or unit. Runs are numbered
	// backwards, and the last run is 1.
	latest, earliest int
}

// tables reads the runs of one world.
type tables struct {
	conn     driver.Conn
	database string
	world    string
}

// read returns the facts of all sources with live runs in the last 7 days.
func (t *tables) read(ctx context.Context, now time.Time) (map[string]*facts, error) {
	all := make(map[string]*facts)
	of := func(source string) *facts {
		if all[source] == nil {
			all[source] = &facts{hours: make(map[time.Time]float64)}
		}
		return all[source]
	}
	for _, read := range []func(context.Context, time.Time, func(string) *facts) error{t.readRuns, t.readFields, t.readHours, t.readClocks} {
		if err := read(ctx, now, of); err != nil {
			return nil, fmt.Errorf("reading the runs of sources: %w", err)
		}
	}
	return all, nil
}

// each runs a query about the runs of the last 7 days, and calls `row` after it has scanned each row into dest.
func (t *tables) each(ctx context.Context, now time.Time, query string, dest []any, row func()) error {
	rows, err := t.conn.Query(ctx, query, clickhouse.Named("world", t.world),
		clickhouse.Named("since", fmt.Sprint(now.Add(-week).UnixMicro())), clickhouse.Named("day", fmt.Sprint(now.Add(-24*time.Hour).UnixMicro())))
	if err != nil {
		return err
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			_ = rows.Close()
			return err
		}
		row()
	}
	return cmp.Or(rows.Err(), rows.Close())
}

// live is the FROM and WHERE clauses that select the runs of kind live of the last 7 days. Imports and backfills have
// other kinds.
const live = " FROM %s.source_run FINAL WHERE world = {world:String} AND kind = 'live' AND started >= fromUnixTimestamp64Micro({since:Int64}) "

func (t *tables) from(query string) string { return fmt.Sprintf(query, t.database) }

func (t *tables) readRuns(ctx context.Context, now time.Time, of func(string) *facts) error {
	var source, outcome string
	var run, first, future uint64
	var newest uint32
	return t.each(ctx, now, t.from(`SELECT toString(source), run, toString(outcome), rejected['future_time'],
			min(run) OVER (PARTITION BY source), toUInt32(max(newest) OVER (PARTITION BY source))`+live+`
		ORDER BY source, run DESC LIMIT `+fmt.Sprint(lastRuns)+` BY source`),
		[]any{&source, &run, &outcome, &future, &first, &newest}, func() {
			f := of(source)
			f.runs = append(f.runs, runFacts{outcome, future})
			f.first = time.UnixMicro(int64(first)).UTC()
			if newest > 0 {
				f.newest = time.Unix(int64(newest), 0).UTC()
			}
		})
}

// readFields reads the fields and units of the runs that have the same configuration as the last run.
func (t *tables) readFields(ctx context.Context, now time.Time, of func(string) *facts) error {
	ranked := `WITH runs AS (SELECT source, mapKeys(fields) AS names, units, config_sha256, rank,
			argMax(config_sha256, run) OVER (PARTITION BY source) AS present
		FROM (SELECT *, row_number() OVER (PARTITION BY source ORDER BY run DESC) AS rank` + live + ` AND fingerprint != '')),
		same AS (SELECT * FROM runs WHERE config_sha256 = present) `
	var source, name, unit string
	var recent, before, latest, earliest uint64
	dest := []any{&source, &name, &unit, &recent, &before, &latest, &earliest}
	read := func() share { return share{name, unit, int(recent), int(before), int(latest), int(earliest)} }
	counts := fmt.Sprintf("countIf(rank <= %d), countIf(rank > %[1]d), min(rank), max(rank)", fieldRuns)
	err := t.each(ctx, now, t.from(ranked+`SELECT toString(source), '', '', `+counts+` FROM same GROUP BY source`), dest, func() {
		of(source).recent, of(source).compare = int(recent), int(before)
	})
	if err != nil {
		return err
	}
	err = t.each(ctx, now, t.from(ranked+`SELECT toString(source), toString(arrayJoin(names)) AS name, '', `+counts+`
		FROM same GROUP BY source, name ORDER BY source, name`), dest, func() {
		of(source).fields = append(of(source).fields, read())
	})
	if err != nil {
		return err
	}
	return t.each(ctx, now, t.from(ranked+`SELECT toString(source), toString(parameter), toString(arrayJoin(stated)) AS unit, `+counts+`
		FROM same ARRAY JOIN mapKeys(units) AS parameter, mapValues(units) AS stated GROUP BY source, parameter, unit ORDER BY source, parameter, unit`), dest, func() {
		of(source).units = append(of(source).units, read())
	})
}

// readHours reads the number of readings of each source and hour. If several runs fetched an hour, the maximum counts.
func (t *tables) readHours(ctx context.Context, now time.Time, of func(string) *facts) error {
	var source string
	var hour, n uint32
	return t.each(ctx, now, t.from(`SELECT toString(source), toUInt32(hour), max(n)`+` FROM %s.source_run FINAL
			ARRAY JOIN mapKeys(hours) AS hour, mapValues(hours) AS n
		WHERE world = {world:String} AND kind = 'live' AND started >= fromUnixTimestamp64Micro({since:Int64}) - INTERVAL 1 DAY GROUP BY source, hour`),
		[]any{&source, &hour, &n}, func() { of(source).hours[time.Unix(int64(hour), 0).UTC()] = float64(n) })
}

func (t *tables) readClocks(ctx context.Context, now time.Time, of func(string) *facts) error {
	var source, station string
	var values uint64
	return t.each(ctx, now, t.from(`SELECT toString(source), station, count() AS n FROM %s.rejected FINAL
		WHERE world = {world:String} AND reason = 'future_time' AND station != '' AND started >= fromUnixTimestamp64Micro({day:Int64})
		GROUP BY source, station ORDER BY source, n DESC, station`), []any{&source, &station, &values}, func() {
		of(source).clocks = append(of(source).clocks, station)
	})
}

// median returns the median of numbers (the larger one if two are in the middle). It returns false if there are none.
func median(all []float64) (float64, bool) {
	if len(all) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2], true
}
