package forecast

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// issue computes forecasts from the days up to `base`, as known at the time `known`, and stores them. It returns the
// number of forecasts of this base. A place with forecasts from an earlier issue of this base keeps them. If the
// earlier issue failed halfway, this issue adds the missing forecasts. Readers ignore forecasts that are newer than the
// row in forecast_issue. So this row gets the latest time of all forecasts of the base, even of a concurrent issue.
func (f *Forecaster) issue(ctx context.Context, run, input string, base schema.Day, known, fitted time.Time) (rows uint64, err error) {
	p := clickhouse.Parameters{
		"run": run, "input": input, "known": instantText(known), "fitted": instantText(fitted), "first": dayText(base - recentDays + 1), "base": dayText(base), "slots": allSlots(),
	}
	if err := f.exec(ctx, "issue", f.sql.issue, p); err != nil {
		return 0, err
	}
	if err := f.exec(ctx, "reasons", f.sql.reason, p); err != nil {
		return 0, err
	}
	err = f.exec(ctx, "record", "INSERT INTO "+f.database+".forecast_issue (run, base, issued_at, fitted_at, forecasts) "+
		"SELECT {run:String}, {base:Date}, greatest({known:DateTime64(3, 'UTC')}, max(issued_at)), {fitted:DateTime64(3, 'UTC')}, count() FROM "+f.database+".forecast FINAL "+
		"WHERE run = {run:String} AND horizon > 0 AND day > {base:Date} AND day - horizon = {base:Date} SETTINGS distributed_foreground_insert = 1", p)
	if err != nil {
		return 0, err
	}
	err = f.scan(ctx, "the issue", "SELECT forecasts FROM "+f.database+".forecast_issue FINAL WHERE run = {run:String} AND base = {base:Date}", p, &rows)
	return rows, err
}
