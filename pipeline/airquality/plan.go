package airquality

import (
	"context"
	"fmt"
	"slices"
	"time"

	"vayu/schema"
)

// plan is the work of a roll-up, and the values for its row in the table `rollup`.
type plan struct {
	chunks []chunk
	// `started` is the mark of the roll-up: the next roll-up skips readings that were stored before this time. A
	// backfill does not look for new readings, so its mark is the epoch (1970), which is before all other marks.
	started     time.Time
	fingerprint uint64 // see [Rollup.fingerprint]
	done        bool   // the plain means of all readings exist
	// `tested` is the time at which [Rollup.TestSeries] began its tests; zero if the roll-up did not run these tests.
	tested time.Time
	// `last` is the end of the previous roll-up. Results of quality tests that were stored after this time may not be
	// in the means yet. For example, a killed roll-up may have stored them.
	last  time.Time
	tests time.Duration // time that quality tests took during planning
}

// lookback is how long before the start of the previous roll-up a roll-up still looks for new readings. A reading gets
// its time stamp when its INSERT begins, and becomes visible when the INSERT ends. So it may have become visible after
// the previous roll-up read the table. An INSERT takes much less than a second. A minute allows for a busy machine and
// for clock skew.
const lookback = time.Minute

// mark describes the previous roll-up. Readings stored after its start are new.
type mark struct {
	started     time.Time
	ended       time.Time
	fingerprint uint64 // see [Rollup.fingerprint]; 0 if unknown
}

// planSince plans the hours that may have changed since the previous roll-up began, because readings are new or
// withdrawn, or stations relocated. It also plans hourly rain that an older version has computed with a wrong formula.
func (r *Rollup) planSince(ctx context.Context, started time.Time) (plan, error) {
	last, err := r.lastMark(ctx)
	if err != nil {
		return plan{}, err
	}
	// The fingerprint is read before the readings. If a reading becomes visible between the two queries, the next
	// roll-up computes another fingerprint for `started`. It then reads the minute before `started` again.
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
	if p.chunks, err = r.chunksOf(ctx, "reading", "ingested_at > fromUnixTimestamp64Milli(?)", from.UnixMilli()); err != nil {
		return plan{}, err
	}
	withdrawn, err := r.chunksOf(ctx, `reading AS r INNER JOIN
		(SELECT station, parameter, from_at, to_at FROM `+r.tables.Database+`.withdrawal WHERE made_at > fromUnixTimestamp64Milli(?)) AS w
		ON r.station = w.station`, "w.parameter IN ('', r.parameter) AND at > w.from_at AND at <= w.to_at", last.started.Add(-lookback).UnixMilli())
	if err != nil {
		return plan{}, err
	}
	moved, err := r.relocations(ctx, last.started.Add(-lookback))
	if err != nil {
		return plan{}, err
	}
	rain, err := r.rainOfOthers(ctx)
	if err != nil {
		return plan{}, err
	}
	p.chunks = slices.Concat(p.chunks, withdrawn, moved, rain)
	return p, nil
}

// lastMark returns the mark of the latest roll-up. It ignores roll-ups whose start is in the future. They exist if a
// clock was set back, and with their mark no reading would count as new.
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

// fingerprint returns a checksum of the readings that were stored in the minute (lookback) before the time `at`. It is
// never 0. If a later call for the same time returns the same checksum, no reading of that minute became visible
// between the calls.
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

// planBetween plans the hours of the readings in the time range (from, to].
func (r *Rollup) planBetween(ctx context.Context, from, to time.Time) ([]chunk, error) {
	return r.chunksOf(ctx, "reading", "at > ? AND at <= ?", from, to)
}

// chunksOf selects readings by an SQL condition, and plans the hours that these readings affect. The chunks are in the
// order of their months. `from` is the table, or a join with it, without the name of the database.
func (r *Rollup) chunksOf(ctx context.Context, from, condition string, args ...any) ([]chunk, error) {
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
	var chunks []chunk
	spans := make(map[[2]time.Time]int) // indexes in chunks; stations with the same hours share a chunk
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
			i = len(chunks)
			spans[key] = i
			chunks = append(chunks, chunk{from: key[0], to: key[1], months: 1})
		}
		chunks[i].add(station, readings)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("selecting readings: %w", err)
	}
	chunks = merge(joinSpans(chunks))
	for i := range chunks {
		if chunks[i].between, err = r.isDense(ctx, &chunks[i]); err != nil {
			return nil, err
		}
	}
	return split(chunks), nil
}

// isDense reports whether a range of ids should select the stations of a chunk. The chunk must have at least minBetween
// stations, and at least half of the stations that have readings in this range. isDense sorts c.stations.
func (r *Rollup) isDense(ctx context.Context, c *chunk) (dense bool, err error) {
	if len(c.stations) < minBetween {
		return false, nil
	}
	slices.Sort(c.stations)
	rows, err := r.conn.Query(ctx, "SELECT uniq(station) FROM "+r.tables.Database+`.reading
		WHERE at >= ? AND at <= ? AND station BETWEEN ? AND ?`, c.firstReading(), c.lastReading(), c.ids().First, c.ids().Last)
	if err != nil {
		return false, fmt.Errorf("counting the stations of a range: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all uint64
	for rows.Next() {
		if err := rows.Scan(&all); err != nil {
			return false, fmt.Errorf("counting the stations of a range: %w", err)
		}
	}
	return uint64(2*len(c.stations)) >= all, rows.Err()
}
