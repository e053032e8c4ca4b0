package forecast

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/sleep"
	"vayu/schema"
)

const (
	// checkEvery is how often Run looks whether forecasts are due.
	checkEvery = 5 * time.Minute
	firstRetry = 10 * time.Second
	// emptyRetry is the time after which an issue without forecasts is repeated, because an archive may have been
	// imported since.
	emptyRetry = time.Hour
)

// Run issues the forecasts of each Indian day until ctx ends, and fits the model each week. Only one instance
// may run it. It logs and counts failures, and retries.
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

// Due issues the forecasts that are due at a time, and fits the model before if the last fit is a week old. It
// returns whether it issued any. The stored rows alone determine what is due.
func (f *Forecaster) Due(ctx context.Context, now time.Time) (bool, error) {
	base := schema.DayOf(now.Add(-2*time.Hour)) - 1
	last, fitted, err := f.state(ctx)
	if err != nil {
		return false, err
	}
	f.metrics.show(last.at, fitted)
	if last.base >= base && (last.rows > 0 || now.Sub(last.at) < emptyRetry) {
		return false, nil
	}
	ready, err := f.ready(ctx, base, now)
	if err != nil || !ready {
		return false, err
	}
	input := "issue-" + rand.Text()
	if now.Sub(fitted) >= fitEvery*24*time.Hour {
		begin := time.Now()
		err := f.prepare(ctx, input+"-fit", fitSpan(base), false)
		if err == nil {
			err = f.fit(ctx, "", input+"-fit", fitSpan(base), now)
		}
		f.metrics.observe("fit", err, time.Since(begin))
		if err != nil {
			return false, err
		}
		f.log.InfoContext(ctx, "fitted the forecast model", "base", base, "elapsed", time.Since(begin).Round(time.Millisecond))
		fitted = now
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

// issued is the last issue.
type issued struct {
	base schema.Day
	at   time.Time // the year 1970 for never
	rows uint64    // number of its forecasts
}

// state returns the last issue, and when the model was fitted that the next one can use; the year 1970 for never. A fit
// that was interrupted, or has no issue yet, does not count: it may lack parameters. Nor does one without coefficients,
// which was made before an archive was imported.
func (f *Forecaster) state(ctx context.Context) (last issued, fitted time.Time, err error) {
	var base int32
	err = f.scan(ctx, "the last issue", "SELECT last, at, rows, least(used, fitted) FROM "+
		"(SELECT toInt32(max(base)) AS last, max(issued_at) AS at, argMax(forecasts, issued_at) AS rows, max(fitted_at) AS used FROM "+f.database+".forecast_issue WHERE run = '') AS issues, "+
		"(SELECT max(fitted_at) AS fitted FROM "+f.database+".forecast_fit WHERE run = '') AS fits", nil, &base, &last.at, &last.rows, &fitted)
	last.base = schema.Day(base)
	return last, fitted, err
}

// patience is how long an issue waits for places that are late.
const patience = 4 * time.Hour

// ready reports whether the day has data. At first it wants half of the places of the day before.
func (f *Forecaster) ready(ctx context.Context, base schema.Day, now time.Time) (bool, error) {
	var today, before uint64
	count := "(SELECT count() FROM " + f.database + ".city_day WHERE day = {%[1]s:Date}) + (SELECT count() FROM " + f.database + ".station_hour WHERE at = {%[1]s_end:DateTime('UTC')} AND station IN (SELECT id FROM " + f.database + ".station FINAL))"
	err := f.scan(ctx, "the last day", "SELECT "+fmt.Sprintf(count, "base")+", "+fmt.Sprintf(count, "before"), clickhouse.Parameters{
		"base": dayText(base), "base_end": base.End().Format(time.DateTime), "before": dayText(base - 1), "before_end": (base - 1).End().Format(time.DateTime),
	}, &today, &before)
	late := now.Sub(issueTime(base)) > patience
	return today > 0 && (late || 2*today >= before), err
}
