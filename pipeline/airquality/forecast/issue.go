package forecast

import (
	"context"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// issue issues the forecasts that follow from the days up to base that were known at a time. It returns their
// number. Issuing the same forecasts again replaces them with equal ones.
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
		"SELECT {run:String}, {base:Date}, {known:DateTime64(3, 'UTC')}, {fitted:DateTime64(3, 'UTC')}, count() FROM "+f.database+".forecast "+
		"WHERE run = {run:String} AND issued_at = {known:DateTime64(3, 'UTC')} AND horizon > 0 SETTINGS distributed_foreground_insert = 1", p)
	if err != nil {
		return 0, err
	}
	err = f.scan(ctx, "the issue", "SELECT forecasts FROM "+f.database+".forecast_issue FINAL WHERE run = {run:String} AND base = {base:Date}", p, &rows)
	return rows, err
}
