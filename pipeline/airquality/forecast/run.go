package forecast

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/sleep"
	"vayu/schema"
)

const (
	// checkEvery is the time between two checks whether forecasts are due.
	checkEvery = 5 * time.Minute
	firstRetry = 10 * time.Second
	// lateEvery is the least time between two issues of forecasts from the same base day. A later issue is for places
	// whose readings were late. If the first issue had no forecasts, for example before an archive was imported, the
	// next issue is for all places.
	lateEvery = time.Hour
)

// Run fits the models and issues the daily and hourly forecasts when they are due, until ctx ends. Only one instance
// may call Run at a time. Run logs and counts each failure, and retries with backoff.
func (f *Forecaster) Run(ctx context.Context) error {
	defer f.metrics.reset()
	for failures := 0; ctx.Err() == nil; {
		if _, err := f.Due(ctx, time.Now()); err != nil && ctx.Err() == nil {
			f.log.WarnContext(ctx, "could not issue forecasts; retrying", "error", err)
			sleep.For(ctx, sleep.Backoff(failures, firstRetry, checkEvery))
			failures++
			continue
		}
		failures = 0
		sleep.For(ctx, checkEvery)
	}
	return nil
}

// Due issues the forecasts of days and of hours that are due at the time `now`. If the last fit of a model is too old,
// Due first fits that model. It returns whether it issued any forecasts. The stored rows alone determine what is due.
func (f *Forecaster) Due(ctx context.Context, now time.Time) (bool, error) {
	days, err := f.dueDays(ctx, now)
	hours, failed := f.dueHours(ctx, now)
	return days || hours, errors.Join(err, failed)
}

// dueDays issues the forecasts of days if they are due (see [Forecaster.Due]). It first fits the model if the last fit
// is older than fitEvery. An issue for late places uses the fit of the earlier issue of the same base.
func (f *Forecaster) dueDays(ctx context.Context, now time.Time) (bool, error) {
	base := schema.DayOf(now.Add(-2*time.Hour)) - 1
	last, fitted, err := f.state(ctx)
	if err != nil {
		return false, err
	}
	f.metrics.show(last.at, fitted)
	late := last.base == base && last.rows > 0
	if last.base > base || last.base == base && now.Sub(last.at) < lateEvery {
		return false, nil
	}
	wanted := f.ready
	if late {
		wanted = f.late
	}
	if due, err := wanted(ctx, base, now); err != nil || !due {
		return false, err
	}
	input := "issue-" + rand.Text()
	if !late && now.Sub(fitted) >= fitEvery*24*time.Hour {
		if err := f.refit(ctx, input+"-fit", base, now); err != nil {
			return false, err
		}
		fitted = now
	}
	if late {
		fitted = last.fitted
	}
	begin := time.Now()
	err = f.prepare(ctx, input, Span{base - recentDays, base}, false)
	var rows uint64
	if err == nil {
		rows, err = f.issue(ctx, "", input, base, now, fitted)
	}
	f.metrics.observe("issue", err, time.Since(begin))
	if err != nil {
		return false, err
	}
	f.metrics.rows.Set(float64(rows))
	f.metrics.show(now, fitted)
	f.log.InfoContext(ctx, "issued forecasts", "base", base, "forecasts", rows, "elapsed", time.Since(begin).Round(time.Millisecond))
	return true, nil
}

// refit fits the model of daily forecasts to the days up to `base`.
func (f *Forecaster) refit(ctx context.Context, input string, base schema.Day, now time.Time) error {
	begin := time.Now()
	err := f.prepare(ctx, input, fitSpan(base), false)
	if err == nil {
		err = f.fit(ctx, "", input, fitSpan(base), now)
	}
	f.metrics.observe("fit", err, time.Since(begin))
	if err == nil {
		f.log.InfoContext(ctx, "fitted the forecast model", "base", base, "elapsed", time.Since(begin).Round(time.Millisecond))
	}
	return err
}

// issued describes the last issue of daily forecasts.
type issued struct {
	base schema.Day
	at   time.Time // the year 1970 for never
	rows uint64    // number of its forecasts
	// fitted is the time of the fit that the issue used. That fit may lack coefficients.
	fitted time.Time
}

// state returns the last issue, and the time of the fit that the next issue can use. Times in 1970 mean none. A fit
// counts only after an issue has used it, because an interrupted fit may lack parameters. A fit without coefficients
// does not count either: it was made before an archive was imported.
func (f *Forecaster) state(ctx context.Context) (last issued, fitted time.Time, err error) {
	var base int32
	err = f.scan(ctx, "the last issue", "SELECT last, at, rows, used, least(used, fitted) FROM "+
		"(SELECT toInt32(max(base)) AS last, max(issued_at) AS at, argMax(forecasts, issued_at) AS rows, max(fitted_at) AS used FROM "+f.database+".forecast_issue WHERE run = '') AS issues, "+
		"(SELECT max(fitted_at) AS fitted FROM "+f.database+".forecast_fit WHERE run = '') AS fits", nil, &base, &last.at, &last.rows, &last.fitted, &fitted)
	last.base = schema.Day(base)
	return last, fitted, err
}

// patience is how long after issueTime a first issue waits for places whose readings are late (see ready).
const patience = 4 * time.Hour

// ready reports whether enough places have complete data of the base day: at least half as many as have complete data
// of the day before. Once `patience` has passed since issueTime, one place is enough.
func (f *Forecaster) ready(ctx context.Context, base schema.Day, now time.Time) (bool, error) {
	var today, before uint64
	err := f.scan(ctx, "the last day", f.sql.ready, clickhouse.Parameters{"from": dayText(base - 1), "to": dayText(base)}, &today, &before)
	patient := now.Sub(issueTime(base)) <= patience
	return today > 0 && (!patient || 2*today >= before), err
}

// late reports whether data of the base day has become complete for any place after the forecasts of that base were
// issued. Such a place has no forecast yet.
func (f *Forecaster) late(ctx context.Context, base schema.Day, _ time.Time) (bool, error) {
	var places uint64
	err := f.scan(ctx, "late places", f.sql.late, clickhouse.Parameters{"from": dayText(base), "to": dayText(base)}, &places)
	return places > 0, err
}
