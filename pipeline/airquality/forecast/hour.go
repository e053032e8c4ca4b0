package forecast

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

const (
	// hoursEvery is the time between two bases (starts) of hourly forecasts: 0, 6, 12 and 18 o'clock Indian time.
	hoursEvery = 6 * time.Hour
	// Forecasts are issued hoursDelay after their base, when most sources have delivered readings. They wait up to
	// hoursPatience longer if the number of stations with PM2.5 has fallen by more than half since the day before.
	hoursDelay, hoursPatience = time.Hour, 2 * time.Hour
	// fitHoursEvery is the least time between two fits of the model of hours.
	fitHoursEvery = 24 * time.Hour
)

// dueHours issues hourly forecasts of PM2.5 if they are due (see [Forecaster.Due]). It first fits the model if the last
// fit is older than fitHoursEvery.
func (f *Forecaster) dueHours(ctx context.Context, now time.Time) (bool, error) {
	base := hourBase(now.Add(-hoursDelay))
	var last, fitted time.Time
	err := f.scan(ctx, "the last issue of hours", "SELECT last, least(used, fitted) FROM "+ // a restored archive has issues, but no fits; a new fit is then due
		"(SELECT max(base) AS last, max(fitted_at) AS used FROM "+f.database+".forecast_hour_issue WHERE run = '') AS issues, "+
		"(SELECT max(fitted_at) AS fitted FROM "+f.database+".forecast_hour_fit WHERE run = '') AS fits", nil, &last, &fitted)
	if err != nil || !last.Before(base) {
		return false, err
	}
	var present, before uint64
	if err := f.scan(ctx, "the last hour", f.sql.hours.ready, hourSpan(base, 25), &present, &before); err != nil {
		return false, err
	}
	if patient := now.Sub(base) <= hoursDelay+hoursPatience; present == 0 || patient && 2*present < before {
		return false, nil
	}
	input := "hours-" + rand.Text()
	if now.Sub(fitted) >= fitHoursEvery {
		begin := time.Now()
		err := f.fitHours(ctx, "", input+"-fit", base, now)
		f.metrics.observe("fit_hours", err, time.Since(begin))
		if err != nil {
			return false, err
		}
		fitted = now
	}
	begin := time.Now()
	rows, err := f.issueHours(ctx, "", input, base, now, fitted)
	f.metrics.observe("issue_hours", err, time.Since(begin))
	if err != nil {
		return false, err
	}
	f.log.InfoContext(ctx, "issued forecasts of hours", "base", base, "forecasts", rows, "elapsed", time.Since(begin).Round(time.Millisecond))
	return true, nil
}

// hourBase returns the latest base (0, 6, 12 or 18 o'clock Indian time) that is not after the time `at`.
func hourBase(at time.Time) time.Time {
	start := schema.DayOf(at).Start()
	return start.Add(at.Sub(start).Truncate(hoursEvery))
}

// hourSpan returns the query parameters for the last `hours` hours up to and including the hour that ends at `base`.
func hourSpan(base time.Time, hours int) clickhouse.Parameters {
	return clickhouse.Parameters{"base": hourText(base), "from": hourText(base.Add(-time.Duration(hours) * time.Hour))}
}

// hourText formats a time as a query parameter of type DateTime('UTC').
func hourText(t time.Time) string { return t.UTC().Format(time.DateTime) }

// fitHours fits the model of hours to the last weeks (fitWeeks) up to `base`. It also computes the score of the
// forecasts that were issued in the last `judged` days.
func (f *Forecaster) fitHours(ctx context.Context, run, input string, base, fitted time.Time) error {
	for _, step := range [...]struct {
		what, text string
		hours      int
	}{
		{"hours of the fit", f.sql.hours.fitInput, fitHours}, {"coefficients of hours", f.sql.hours.coefficient, fitHours},
		{"residuals of hours", f.sql.hours.residual, fitHours}, {"score of hours", f.sql.hours.score, judged * 24},
	} {
		p := hourSpan(base, step.hours)
		p["run"], p["input"], p["fitted"] = run, input, instantText(fitted)
		if err := f.exec(ctx, step.what, step.text, p); err != nil {
			return err
		}
	}
	return nil
}

// issueHours issues the forecasts of the hours after `base`, and returns the number of forecasts of this base. A place
// that has forecasts from an earlier, recorded issue of the same base keeps them.
func (f *Forecaster) issueHours(ctx context.Context, run, input string, base, issued, fitted time.Time) (rows uint64, err error) {
	p := hourSpan(base, issueHours)
	p["run"], p["input"], p["issued"], p["fitted"] = run, input, instantText(issued), instantText(fitted)
	if err := f.exec(ctx, "hours of the issue", f.sql.hours.input, p); err != nil {
		return 0, err
	}
	if err := f.exec(ctx, "issue of hours", f.sql.hours.issue, p); err != nil {
		return 0, err
	}
	stored := " FROM " + f.database + ".forecast_hour FINAL WHERE run = {run:String} AND base = {base:DateTime('UTC')} AND horizon > 0"
	err = f.exec(ctx, "record of hours", "INSERT INTO "+f.database+".forecast_hour_issue (run, base, issued_at, fitted_at, forecasts) "+
		"SELECT {run:String}, {base:DateTime('UTC')}, {issued:DateTime64(3, 'UTC')}, {fitted:DateTime64(3, 'UTC')}, count()"+stored+" SETTINGS distributed_foreground_insert = 1", p)
	if err != nil {
		return 0, err
	}
	err = f.scan(ctx, "the issue of hours", "SELECT count()"+stored, p, &rows)
	return rows, err
}
