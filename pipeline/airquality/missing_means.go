package airquality

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// These are values of the Enum8 column `means` of the table rollup. They mark roll-ups with the present formulas of
// means. Instances of an older version, which run during an upgrade, write other values.
const (
	meansDone     int8 = 4 // 'amounts_done': the plain means of all readings exist, by the formulas of this version
	meansRolledUp int8 = 5 // 'amounts': the mark of each roll-up by the formulas of this version
)

// meansWanted reports whether plain means (of one hour or day) are missing. They are missing after a migration that has
// copied readings from Vayu 0.1.0 or added a column of means, until [Rollup.afterMigration] has computed them.
func (r *Rollup) meansWanted(ctx context.Context) (wanted bool, err error) {
	rows, err := r.conn.Query(ctx, `SELECT maxIf(at, means = 'wanted') > maxIf(at, means IN ('done', 'amounts_done'))
		OR maxIf(at, means = 'amounts_wanted') > maxIf(at, means = 'amounts_done') FROM `+r.tables.Database+".rollup")
	if err != nil {
		return false, fmt.Errorf("checking for missing means: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&wanted); err != nil {
			return false, fmt.Errorf("checking for missing means: %w", err)
		}
	}
	return wanted, rows.Err()
}

// rainOfOthers plans to recompute the hourly rain that instances of an older version of Vayu have computed since the
// last roll-up of this version. The formula of the older version is wrong for readings whose averaging interval is not
// one hour.
func (r *Rollup) rainOfOthers(ctx context.Context) ([]chunk, error) {
	rows, err := r.conn.Query(ctx, `SELECT min(hours_from), max(hours_to), count() FROM `+r.tables.Database+`.rollup
		WHERE means = 'none' AND at > (SELECT max(at) FROM `+r.tables.Database+`.rollup WHERE means IN ('amounts', 'amounts_done'))`)
	if err != nil {
		return nil, fmt.Errorf("reading the roll-ups of another program: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var from, to time.Time
	var n uint64
	for rows.Next() {
		if err := rows.Scan(&from, &to, &n); err != nil {
			return nil, fmt.Errorf("reading the roll-ups of another program: %w", err)
		}
	}
	if err := rows.Err(); err != nil || n == 0 {
		return nil, err
	}
	return r.chunksOf(ctx, "reading", "parameter = 'rain' AND averaging != 60 AND averaging < 1440 AND at > ? AND at <= ?", from.Add(-time.Hour), to.Add(24*time.Hour))
}

// recentMeans is the time span up to the newest reading for which afterMigration first computes plain means (of one
// hour or day). The index of an hour uses the plain means of that hour and of the 30 hours before it (see reach). So
// four days suffice for current indices.
const recentMeans = 4 * 24 * time.Hour

// afterMigration runs the first increment after a migration. It first computes the plain means of the latest days, so
// that older years do not delay current indices. Then it runs the increment and computes the plain means of all
// readings. At the end it computes the hours of the increment again, because the increment lacked plain means for hours
// before the latest days.
func (r *Rollup) afterMigration(ctx context.Context) (Result, error) {
	newest, err := r.newestReading(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := r.fillMeans(ctx, newest.Add(-recentMeans)); err != nil {
		return Result{}, err
	}
	var increment plan
	result, err := r.run(ctx, "increment", func(ctx context.Context, started time.Time) (plan, error) {
		p, err := r.planSince(ctx, started)
		if err != nil {
			return p, err
		}
		p.chunks, err = r.testAll(ctx, p.chunks, resultFilter{since: p.last})
		increment = p
		return p, err
	})
	if err != nil {
		return result, err
	}
	if err := r.fillMeans(ctx, time.Unix(0, 0)); err != nil {
		return result, err
	}
	tested := increment.started
	increment.started = time.Unix(0, 0)
	if _, err := r.run(ctx, "backfill", func(context.Context, time.Time) (plan, error) { return increment, nil }); err != nil {
		return result, err
	}
	done := Result{From: newest, To: newest}
	return result, r.recordRollUp(ctx, plan{started: time.Unix(0, 0), tested: tested, done: true}, done)
}

// newestReading returns the end of the latest averaging interval of any stored
// reading.
func (r *Rollup) newestReading(ctx context.Context) (at time.Time, err error) {
	rows, err := r.conn.Query(ctx, "SELECT max(at) FROM "+r.tables.Database+".reading")
	if err != nil {
		return at, fmt.Errorf("reading the time of the newest reading: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(&at); err != nil {
			return at, fmt.Errorf("reading the time of the newest reading: %w", err)
		}
	}
	return at, rows.Err()
}

// fillMeans computes the plain means of all readings after the time `since`, the latest readings first. It does not
// recompute indices. So the indices that Vayu 0.1.0 computed stay, although that version lacked some quality tests.
// Only a backfill replaces them.
func (r *Rollup) fillMeans(ctx context.Context, since time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	started, err := r.serverTime(ctx)
	if err != nil {
		return err
	}
	chunks, err := r.planBetween(ctx, since, started.Add(time.Hour))
	if err != nil {
		return err
	}
	for _, c := range slices.Backward(chunks) {
		c.meansOnly = true
		if err := r.tester.Run(ctx, c.stations, c.firstReading(), c.lastReading()); err != nil {
			return err
		}
		if err := r.tester.Correct(ctx, c.stations, c.firstReading(), c.lastReading()); err != nil {
			return err
		}
		if err := r.compute(ctx, c, started); err != nil {
			return fmt.Errorf("computing means of %s to %s: %w", c.from.Format(time.RFC3339), c.to.Format(time.RFC3339), err)
		}
		r.log.InfoContext(ctx, "plain means computed", "from", c.from, "to", c.to, "stations", len(c.stations))
	}
	return nil
}
