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

// chunk is the work of one pass, which runs every statement once. It covers the hours `from` to
// `to` (both included) of some stations. [merge] limits the readings of a chunk, and thus the
// memory of a pass in a long backfill.
type chunk struct {
	from, to time.Time
	stations []string
	// cities are former cities (city and state) of the stations. They are computed in addition to the current cities of
	// the stations.
	cities [][2]string
	// citiesOnly means that the pass skips the rows of stations, because only the rows of cities change.
	citiesOnly bool
	// meansOnly means that the pass skips the indices, because only plain means are missing.
	meansOnly bool

	readings uint64 // readings that the plan selected
	months   int    // calendar months that the chunk spans
	filled   int    // pairs of a station and a month that have selected readings
}

// plan is the work of a roll-up, and the values for its row in the table `rollup`.
type plan struct {
	chunks []chunk
	// started is the mark of the roll-up: the next roll-up skips readings that were stored before this time. A backfill
	// does not look for new readings. Its mark is the epoch (1970), so that it skips nothing.
	started     time.Time
	fingerprint uint64 // see [Rollup.fingerprint]
	means       int8   // value of the column `means`: meansDone, or 0
	// tested is when the tests of [Rollup.TestSeries] began; zero if none ran.
	tested time.Time
	// last is the end of the previous roll-up. Results of quality tests that were stored after this time may not be in
	// the means yet. For example, a killed roll-up may have stored them.
	last  time.Time
	tests time.Duration // time that quality tests took during planning
}

const second = "2006-01-02 15:04:05"

// parameters returns a context with the query parameters of the statements, for a
// chunk and the start of its pass.
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

// retention is how long readings and hourly rows are kept; 0 means for ever.
type retention struct{ readings, hours time.Duration }

// oldest returns the time of the oldest row whose input (readings or hourly rows) is
// still completely stored. The input may be up to two days older than the row, because
// of rolling means and Indian days.
func oldest(now time.Time, keep time.Duration) string {
	if keep == 0 {
		return time.Unix(0, 0).UTC().Format(second)
	}
	return now.Add(-keep).Add(48 * time.Hour).UTC().Format(second)
}

// quote returns a text as a ClickHouse string literal.
func quote(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }

// lookback is how far before the start of the previous roll-up a roll-up looks for
// new readings. A reading gets its time stamp when its insert begins, and becomes
// visible when the insert ends. An insert takes much less than a second. A minute
// allows for a busy machine and for clock skew.
const lookback = time.Minute

// mark describes the previous roll-up. Readings stored after its start are new.
type mark struct {
	started     time.Time
	ended       time.Time
	fingerprint uint64
}

// since plans the hours that may have changed since the previous roll-up began.
func (r *Rollup) since(ctx context.Context, started time.Time) (plan, error) {
	last, err := r.lastMark(ctx)
	if err != nil {
		return plan{}, err
	}
	// The fingerprint is read before the readings. If a reading becomes visible
	// between the two queries, the next roll-up then detects it.
	p := plan{started: started, last: last.ended}
	if p.fingerprint, err = r.fingerprint(ctx, started); err != nil {
		return plan{}, err
	}
	from := last.started.Add(-lookback)
	// If the fingerprint has not changed, the previous roll-up included every reading of the minute before its start.
	// Then this roll-up need not read these readings again.
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

// lastMark returns the mark of the latest roll-up. It ignores roll-ups that start
// in the future. Otherwise, after a clock was set back, no reading would count as
// new.
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

// Recent describes the readings that were stored within the last ten minutes. A later
// value with a larger Newest or Count shows that readings became visible in between.
type Recent struct {
	Newest int64 // when the latest was stored, Unix milliseconds; 0 for none
	Count  uint64
}

// Recent returns the recent readings of all sources.
func (r *Rollup) Recent(ctx context.Context) (found Recent, err error) {
	rows, err := r.conn.Query(ctx, "SELECT toUnixTimestamp64Milli(max(ingested_at)), count() FROM "+r.tables.Database+`.reading
		WHERE ingested_at > now64(3) - INTERVAL 10 MINUTE`)
	if err != nil {
		return found, fmt.Errorf("looking for new readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&found.Newest, &found.Count); err != nil {
			return found, fmt.Errorf("looking for new readings: %w", err)
		}
	}
	return found, rows.Err()
}

// fingerprint returns a checksum of the readings stored in the minute before an
// instant. The checksum is never 0. If a later call returns the same checksum, no
// reading of that minute became visible between the calls.
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

// between plans the hours of the readings in the time range (from, to].
func (r *Rollup) between(ctx context.Context, from, to time.Time) ([]chunk, error) {
	return r.plan(ctx, "reading", "at > ? AND at <= ?", from, to)
}

// plan selects readings by an SQL condition, and plans the hours that these readings affect. The
// chunks are in the order of their months.
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
	spans := make(map[[2]time.Time]int) // indexes in plan; stations with the same hours share a chunk
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

func (c *chunk) widen(from, to time.Time) {
	if from.Before(c.from) {
		c.from = from
	}
	if to.After(c.to) {
		c.to = to
	}
}

func (c *chunk) include(other chunk) {
	c.widen(other.from, other.to)
	c.stations = append(c.stations, other.stations...)
	c.readings += other.readings
}

// maxPasses is the maximum number of passes per month. A pass takes at least a
// fifth of a second. If a month has more passes, joinSpans replaces them by one
// longer pass.
const maxPasses = 4

// joinSpans joins all chunks of a month into one if the month has more than
// maxPasses chunks. The joined chunk covers the hours of all of them.
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

// maxReadings limits the readings of a merged chunk, and thus the memory of its pass. It is about a
// month of all stations in India, for which a pass needs 1.2 GB.
const maxReadings = 4_000_000

// merge joins chunks of successive months. A joined chunk has at most maxReadings readings. A pass computes each month
// of the chunk for each station, so at least half of these pairs must have selected readings.
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

// firstReading returns the earliest time of a reading in the chunk's first hour, which ends at `from`. The added second
// excludes the end of the hour before, which may be in another partition of the table.
func (c *chunk) firstReading() time.Time { return c.from.Add(time.Second - time.Hour) }

// lastReading returns the end of the last hour that has readings of the chunk. The chunk also has the later hours that
// these readings affect.
func (c *chunk) lastReading() time.Time { return c.to.Add(-reach) }

// with returns the stations of the chunk and the other stations, sorted and without
// duplicates.
func (c *chunk) with(others []string) []string {
	all := slices.Concat(c.stations, others)
	slices.Sort(all)
	return slices.Compact(all)
}

// split splits chunks that have too many stations for one request. If two parts have stations of the same city, both
// parts compute the city. The result of the second part is correct, because all stations of the city have been computed
// by then.
func split(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		for part := range columnstore.NameGroups(c.stations) {
			out = append(out, chunk{from: c.from, to: c.to, stations: part})
		}
	}
	return out
}
