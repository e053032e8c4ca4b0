package airquality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/schema"
)

// chunk is what one pass computes: the hours from and to, both included, of
// some stations. Its readings are bounded, and with them the memory of a pass
// whatever the length of a backfill.
type chunk struct {
	from, to time.Time
	stations []string
	// cities are computed beside those of the stations, as city and state:
	// stations have left them.
	cities [][2]string
	// citiesOnly leaves the stations' own figures: only their place changed.
	citiesOnly bool
	// meansOnly leaves the index's figures: only plain means are missing.
	meansOnly bool

	readings uint64 // selected readings in it
	months   int    // calendar months it spans
	filled   int    // pairs of a station and a month that have selected readings
}

// plan is what a roll-up computes and what it marks as computed.
type plan struct {
	chunks []chunk
	// started is the mark: readings stored before it are in the figures. It is
	// the epoch for a backfill, which looks for no new readings.
	started     time.Time
	fingerprint uint64 // see [Rollup.fingerprint]
	means       int8   // of the column means: meansDone, or 0
	// tested is the mark of [Rollup.TestSeries]; zero in other roll-ups.
	tested time.Time
	// last is the end of the roll-up before: results of quality tests since then
	// may be in no mean yet, those that a killed roll-up stored among them.
	last  time.Time
	tests time.Duration // of the quality tests that were run beside the planning
}

const second = "2006-01-02 15:04:05"

// parameters binds the chunk and the instant of the pass to the statements'
// parameters.
func (c chunk) parameters(ctx context.Context, started time.Time, keep retention) context.Context {
	cities := make([]string, len(c.cities))
	for i, city := range c.cities {
		cities[i] = "(" + quote(city[0]) + "," + quote(city[1]) + ")"
	}
	stations := make([]string, len(c.stations))
	for i, s := range c.stations {
		stations[i] = quote(s)
	}
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{
		"from": c.from.UTC().Format(second), "to": c.to.UTC().Format(second),
		"computed": started.UTC().Format(second + ".000"),
		"readings": oldest(started, keep.readings), "hours": oldest(started, keep.hours),
		"stations": "[" + strings.Join(stations, ",") + "]", "cities": "[" + strings.Join(cities, ",") + "]",
	}))
}

// retention is how long readings and hours are kept; 0 for ever.
type retention struct{ readings, hours time.Duration }

// oldest is the instant after which everything that rows follow from is still
// there, with two days for rolling figures and for the end of an Indian day.
func oldest(now time.Time, keep time.Duration) string {
	if keep == 0 {
		return time.Unix(0, 0).UTC().Format(second)
	}
	return now.Add(-keep).Add(48 * time.Hour).UTC().Format(second)
}

// quote writes a text as a literal of ClickHouse.
func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

// lookback is by how much a roll-up looks back behind the start of the one
// before: a reading's stamp is taken when its insert begins, and others see it
// when the insert ends. A batch takes well below a second; a minute leaves room
// for a machine that is busy and for the clocks of two servers.
const lookback = time.Minute

// mark is how far an earlier roll-up came.
type mark struct {
	started     time.Time
	ended       time.Time
	fingerprint uint64
}

// since plans what can have changed since the last roll-up.
func (r *Rollup) since(ctx context.Context, started time.Time) (plan, error) {
	last, err := r.lastMark(ctx)
	if err != nil {
		return plan{}, err
	}
	// The fingerprint comes first: a reading that becomes visible after it changes
	// that of the next roll-up.
	p := plan{started: started, last: last.ended}
	if p.fingerprint, err = r.fingerprint(ctx, started); err != nil {
		return plan{}, err
	}
	from := last.started.Add(-lookback)
	// Without a late reading the minute before the mark holds what that roll-up
	// saw, and need not be computed again.
	if last.fingerprint != 0 {
		now, err := r.fingerprint(ctx, last.started)
		if err != nil {
			return plan{}, err
		}
		if now == last.fingerprint {
			from = last.started
		}
	}
	if p.chunks, err = r.plan(ctx, "reading", "ingested_at > fromUnixTimestamp64Milli(?)", from.UnixMilli()); err != nil {
		return plan{}, err
	}
	withdrawn, err := r.plan(ctx, `reading AS r INNER JOIN
		(SELECT station, parameter, from_at, to_at FROM `+r.tables.Database+`.withdrawal WHERE made_at > fromUnixTimestamp64Milli(?)) AS w
		ON r.station = w.station`, "w.parameter IN ('', r.parameter) AND at > w.from_at AND at <= w.to_at", last.started.Add(-lookback).UnixMilli())
	if err != nil {
		return plan{}, err
	}
	moved, err := r.relocations(ctx, last.started.Add(-lookback))
	if err != nil {
		return plan{}, err
	}
	p.chunks = slices.Concat(p.chunks, withdrawn, moved)
	return p, nil
}

// lastMark returns the mark of the latest roll-up. A start in the future, by a
// clock that was set back, hides nothing that is stored from now on.
func (r *Rollup) lastMark(ctx context.Context) (m mark, err error) {
	rows, err := r.conn.Query(ctx, "SELECT max(started), max(at), argMax(seen, started) FROM "+r.tables.Database+".rollup WHERE started <= now64(3)")
	if err != nil {
		return m, fmt.Errorf("reading the last roll-up: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&m.started, &m.ended, &m.fingerprint); err != nil {
			return m, fmt.Errorf("reading the last roll-up: %w", err)
		}
	}
	return m, rows.Err()
}

// fingerprint is a sum over the readings that were stored in the minute before
// an instant. It is never 0. Two equal ones mean that no reading of that minute
// became visible in between.
func (r *Rollup) fingerprint(ctx context.Context, at time.Time) (sum uint64, err error) {
	rows, err := r.conn.Query(ctx, `SELECT 1 + groupBitXor(cityHash64(station, parameter, at, kind, averaging, value, ingested_at)) FROM `+r.tables.Database+`.reading
		WHERE ingested_at > fromUnixTimestamp64Milli(?) AND ingested_at <= fromUnixTimestamp64Milli(?)`, at.Add(-lookback).UnixMilli(), at.UnixMilli())
	if err != nil {
		return 0, fmt.Errorf("reading the fingerprint of late readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&sum); err != nil {
			return 0, fmt.Errorf("reading the fingerprint of late readings: %w", err)
		}
	}
	return max(sum, 1), rows.Err()
}

// between plans all hours of all stations that have readings from one instant
// to another.
func (r *Rollup) between(ctx context.Context, from, to time.Time) ([]chunk, error) {
	return r.plan(ctx, "reading", "at > ? AND at <= ?", from, to)
}

// plan looks for the readings that a condition selects and plans the hours that
// they are part of, in order of time.
func (r *Rollup) plan(ctx context.Context, from, condition string, args ...any) ([]chunk, error) {
	const selected = `
		SELECT station, min(at - if(averaging > 60 AND averaging < 1440, (intDiv(averaging + 59, 60) - 1) * 3600, 0)), max(at), count()
		FROM %s.%s
		WHERE %s
		GROUP BY toYYYYMM(at) AS month, station
		ORDER BY month, station`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(selected, r.tables.Database, from, condition), args...)
	if err != nil {
		return nil, fmt.Errorf("selecting readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var plan []chunk
	spans := make(map[[2]time.Time]int) // stations with the same hours share a pass
	for rows.Next() {
		var (
			station     string
			first, last time.Time
			readings    uint64
		)
		if err := rows.Scan(&station, &first, &last, &readings); err != nil {
			return nil, fmt.Errorf("selecting readings: %w", err)
		}
		key := [2]time.Time{schema.HourEnd(first), schema.HourEnd(last).Add(reach)}
		i, ok := spans[key]
		if !ok {
			i = len(plan)
			spans[key] = i
			plan = append(plan, chunk{from: key[0], to: key[1], months: 1})
		}
		plan[i].add(station, readings)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("selecting readings: %w", err)
	}
	return split(merge(joinSpans(plan))), nil
}

func (c *chunk) add(station string, readings uint64) {
	c.stations = append(c.stations, station)
	c.readings += readings
}

// widen makes c reach over the hours from and to.
func (c *chunk) widen(from, to time.Time) {
	if from.Before(c.from) {
		c.from = from
	}
	if to.After(c.to) {
		c.to = to
	}
}

// include makes c reach over other's hours and stations.
func (c *chunk) include(other chunk) {
	c.widen(other.from, other.to)
	c.stations = append(c.stations, other.stations...)
	c.readings += other.readings
}

// maxPasses is beyond how many different spans a month's are joined into one:
// a pass costs a fifth of a second whatever it computes.
const maxPasses = 4

// joinSpans gives the stations of one month one common span when their spans differ
// too much to be computed one by one.
func joinSpans(plan []chunk) []chunk {
	var out []chunk
	for len(plan) > 0 {
		n := 1
		for n < len(plan) && sameMonth(plan[n].from, plan[0].from) {
			n++
		}
		month := plan[:n]
		plan = plan[n:]
		if n <= maxPasses {
			out = append(out, month...)
			continue
		}
		all := month[0]
		for _, c := range month[1:] {
			all.include(c)
		}
		out = append(out, all)
	}
	return out
}

func sameMonth(a, b time.Time) bool { return a.Year() == b.Year() && a.Month() == b.Month() }

// maxReadings bounds the readings of a pass, and with them its memory: about a
// month of all of India's stations, 1.2 GB.
const maxReadings = 4_000_000

// merge joins chunks of successive months, for as long as a pass stays small
// and at least half of what it computes has changed.
func merge(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		c.filled = len(c.stations)
		if len(out) > 0 {
			last := &out[len(out)-1]
			all := last.with(c.stations)
			months := last.months
			if !sameMonth(last.lastReading(), c.from) {
				months++
			}
			successive := c.from.Before(last.to.AddDate(0, 1, 0))
			if successive && last.readings+c.readings <= maxReadings && 2*(last.filled+c.filled) >= len(all)*months {
				stations := all
				last.include(c)
				last.stations, last.months, last.filled = stations, months, last.filled+c.filled
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// firstReading is the earliest time that a reading of the chunk's first hour has.
// It leaves the hour before out, whose readings are in other parts of the table.
func (c *chunk) firstReading() time.Time { return c.from.Add(time.Second - time.Hour) }

// lastReading is the end of the last hour that the chunk has readings of.
func (c *chunk) lastReading() time.Time { return c.to.Add(-reach) }

// with returns the chunk's stations and others, each once.
func (c *chunk) with(others []string) []string {
	all := slices.Concat(c.stations, others)
	slices.Sort(all)
	return slices.Compact(all)
}

// split cuts chunks that hold too many stations for one request. A city whose
// stations fall into two parts is computed after both by the second.
func split(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		for part := range columnstore.NameGroups(c.stations) {
			out = append(out, chunk{from: c.from, to: c.to, stations: part})
		}
	}
	return out
}
