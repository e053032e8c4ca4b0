package airquality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"vayu/pipeline/airquality/quality"
	"vayu/schema"
)

// recentWindow is the maximum age of readings that [Rollup.TestSeries] tests. It tests them after their hours are
// computed, so that the tests do not delay current indices. Older readings often arrive in large numbers. Other
// roll-ups test them before the hours of these readings are computed, so that the hours are computed only once.
const recentWindow = 48 * time.Hour

// TestSeries runs the quality tests that compare a reading with other readings. It covers hours of the last two days
// (recentWindow) that have ended and have untested readings. It then does the work of Increment, and recomputes the
// hours whose test results changed. Otherwise a new hour of a city would have only the stations with changed results.
// TestSeries is idempotent.
func (r *Rollup) TestSeries(ctx context.Context) (Result, error) {
	return r.run(ctx, "tests", func(ctx context.Context, started time.Time) (plan, error) {
		last, ended, err := r.lastTests(ctx, started)
		if err != nil {
			return plan{}, err
		}
		// The last run of the tests skipped the hour that was not over when the run began. Sub-hourly readings of that
		// hour may have been stored before the run. So may readings of later hours, if the clock of a source is ahead.
		// The query therefore selects sub-hourly readings of these hours by their time, not only by ingested_at.
		closed := schema.HourEnd(started).Add(-time.Hour)
		chunks, err := r.chunksOf(ctx, "reading", "at > ? AND at <= ? AND (ingested_at > fromUnixTimestamp64Milli(?) OR averaging < 60 AND at > ?)",
			last.Add(-recentWindow), closed, last.Add(-lookback).UnixMilli(), schema.HourEnd(last).Add(-time.Hour))
		if err != nil || len(chunks) == 0 {
			return plan{}, err
		}
		for _, c := range chunks {
			if err := r.tester.Series(ctx, c.stations, c.firstReading(), c.lastReading()); err != nil {
				return plan{}, err
			}
		}
		p, err := r.planIncrement(ctx, started)
		if err != nil {
			return plan{}, err
		}
		// A reading can change the results of readings that are up to 24 hours older.
		changed, err := r.changedResults(ctx, resultFilter{since: ended, after: last.Add(-recentWindow - 24*time.Hour), tests: quality.SeriesTests()})
		p.chunks, p.tested = slices.Concat(p.chunks, split(merge(changed))), started
		return p, err
	})
}

// lastTests returns the start and the end of the last run of [Rollup.TestSeries]. If there was none, it returns
// now-recentWindow as the start, because TestSeries need not test older readings.
func (r *Rollup) lastTests(ctx context.Context, now time.Time) (started, ended time.Time, err error) {
	rows, err := r.conn.Query(ctx, "SELECT max(tested), maxIf(at, toUnixTimestamp64Milli(tested) > 0) FROM "+r.tables.Database+".rollup WHERE tested <= now64(3)")
	if err != nil {
		return started, ended, fmt.Errorf("reading the last quality tests: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&started, &ended); err != nil {
			return started, ended, fmt.Errorf("reading the last quality tests: %w", err)
		}
	}
	if started.Unix() <= 0 {
		started = now.Add(-recentWindow)
	}
	return started, ended, rows.Err()
}

// testIncrement runs the quality tests that must precede an increment: all tests for chunks that begin more than
// recentWindow ago, and only the tests of [quality.Tester.Values] for newer chunks. It returns the chunks of the plan,
// and additional chunks for readings older than recentWindow whose results changed.
func (r *Rollup) testIncrement(ctx context.Context, p plan, started time.Time) ([]chunk, error) {
	var old, fresh []chunk
	for _, c := range p.chunks {
		if c.from.After(started.Add(-recentWindow)) {
			fresh = append(fresh, c)
		} else {
			old = append(old, c)
		}
	}
	for _, c := range fresh {
		if err := r.testValues(ctx, c); err != nil {
			return nil, err
		}
	}
	if len(old) == 0 {
		return fresh, nil
	}
	old, err := r.testAll(ctx, old, resultFilter{since: p.last, until: started.Add(-recentWindow)})
	return slices.Concat(old, fresh), err
}

// testAll runs all tests of the readings of the chunks, and corrects low-cost sensors. It returns the chunks, and
// additional chunks for other hours with changed results that `of` selects. Such hours exist because a reading can
// change the results of earlier readings and of stations nearby.
func (r *Rollup) testAll(ctx context.Context, chunks []chunk, of resultFilter) ([]chunk, error) {
	if len(chunks) == 0 {
		return nil, nil
	}
	for _, c := range chunks {
		if err := r.testValues(ctx, c); err != nil {
			return nil, err
		}
		if c.citiesOnly {
			continue
		}
		if err := r.tester.Series(ctx, c.stations, c.firstReading(), c.lastReading()); err != nil {
			return nil, err
		}
	}
	changed, err := r.changedResults(ctx, of)
	if err != nil {
		return nil, err
	}
	more := slices.DeleteFunc(changed, func(span chunk) bool {
		return slices.ContainsFunc(chunks, func(c chunk) bool { return c.covers(span) })
	})
	return slices.Concat(chunks, split(merge(more))), nil
}

// testValues runs [quality.Tester.Values] for the readings of a chunk, and corrects the low-cost sensors of the chunk.
// It does nothing for a chunk with citiesOnly set, because such a chunk has no new readings.
func (r *Rollup) testValues(ctx context.Context, c chunk) error {
	if c.citiesOnly {
		return nil
	}
	from, to := c.firstReading(), c.lastReading()
	if c.between {
		return r.tester.ValuesIn(ctx, c.ids(), from, to)
	}
	if err := r.tester.Values(ctx, c.stations, from, to); err != nil {
		return err
	}
	return r.tester.Correct(ctx, c.stations, from, to)
}

// covers reports whether the chunk c includes all work of the chunk `one`, which has a single station.
func (c chunk) covers(one chunk) bool {
	return !c.citiesOnly && !one.from.Before(c.from) && !one.to.After(c.to) && slices.Contains(c.stations, one.stations[0])
}

// resultFilter selects stored results of quality tests.
type resultFilter struct {
	since time.Time // results stored at or after this time
	after time.Time // results of readings after this time; zero for all
	until time.Time // results of readings up to this time; zero for all
	tests []string  // results of these tests; empty for all
}

// changedResults returns chunks with the hours that depend on the suspect or failed results that `of` selects. There is
// one chunk for each station and month.
func (r *Rollup) changedResults(ctx context.Context, of resultFilter) ([]chunk, error) {
	condition, args := "computed_at >= fromUnixTimestamp64Milli(?) AND flag IN ('suspect', 'fail')", []any{max(of.since.UnixMilli(), 0)}
	if !of.after.IsZero() {
		condition, args = condition+" AND at > ?", append(args, of.after)
	}
	if !of.until.IsZero() {
		condition, args = condition+" AND at <= ?", append(args, of.until)
	}
	if len(of.tests) > 0 {
		condition += " AND test IN ('" + strings.Join(of.tests, "', '") + "')"
	}
	rows, err := r.conn.Query(ctx, "SELECT station, min(at), max(at) FROM "+r.tables.Database+
		".reading_quality WHERE "+condition+" GROUP BY station, toYYYYMM(at) AS month ORDER BY month, station", args...)
	if err != nil {
		return nil, fmt.Errorf("selecting changed quality results: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var changed []chunk
	for rows.Next() {
		var station string
		var first, last time.Time
		if err := rows.Scan(&station, &first, &last); err != nil {
			return nil, fmt.Errorf("selecting changed quality results: %w", err)
		}
		changed = append(changed, chunk{stations: []string{station}, from: schema.HourEnd(first), to: schema.HourEnd(last).Add(reach), months: 1})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("selecting changed quality results: %w", err)
	}
	return changed, nil
}
