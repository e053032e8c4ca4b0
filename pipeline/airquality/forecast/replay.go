package forecast

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// fitEvery is the number of days between two fits of the model for daily values (see the package comment).
const fitEvery = 7

// Replay describes a replay: forecasts for past days, from what was known then.
type Replay struct {
	// Targets are the days that the forecasts with a horizon of one day are for. Their bases are the days before.
	// Forecasts with longer horizons have the same bases, so some of them are for days after Targets.
	Targets Span
	// AsMeasured means that each reading counts as known at the end of its day. Otherwise it counts as known
	// when it was stored. Imported archives need AsMeasured, because they were stored long after their days.
	AsMeasured bool
}

// Replay issues forecasts for past days. It returns the id of the replay and the number of forecasts. The id is in the
// column `run` of the rows that the replay writes. Replay changes no row of another run.
func (f *Forecaster) Replay(ctx context.Context, r Replay) (run string, rows uint64, err error) {
	run = "replay-" + rand.Text()
	first := r.Targets.First - 1
	if err := f.prepare(ctx, run, Span{fitSpan(first).First, r.Targets.Last}, !r.AsMeasured); err != nil {
		return run, 0, err
	}
	var fitted time.Time
	for base := first; base < r.Targets.Last; base++ {
		known := issueTime(base)
		if (base-first)%fitEvery == 0 {
			fitted = known
			if err := f.fit(ctx, run, run, fitSpan(base), known); err != nil {
				return run, rows, err
			}
		}
		n, err := f.issue(ctx, run, run, base, known, fitted)
		if err != nil {
			return run, rows, err
		}
		rows += n
	}
	return run, rows, nil
}

// issueTime returns the earliest time at which forecasts with a given base are issued. It is two hours after the end
// of the base, because sources deliver the last hour of a day within two hours.
func issueTime(base schema.Day) time.Time { return base.End().Add(2 * time.Hour) }

// WriteScore writes the score of a run as a table: by parameter, horizon and model, over all cities and over all
// stations. `run` is the id of a replay, or "" for the forecasts that the service issued.
func (f *Forecaster) WriteScore(ctx context.Context, run string, w io.Writer) error {
	rows, err := f.conn.Query(clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"run": run})),
		`SELECT place_kind, parameter, horizon, if(model = '', 'served', model) AS name, count(), avg(abs(error)), sqrt(avg(error * error)), avg(error), 100 * avg(covered)
		FROM (SELECT place_kind, parameter, horizon, error, covered, arrayJoin(if(served, [toString(model), ''], [toString(model)])) AS model FROM `+f.database+`.forecast_outcome WHERE run = {run:String})
		GROUP BY place_kind, parameter, horizon, name ORDER BY place_kind, parameter, horizon, name`)
	if err != nil {
		return fmt.Errorf("reading the score: %w", err)
	}
	defer func() { _ = rows.Close() }()
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "PLACES\tPARAMETER\tHORIZON\tMODEL\tFORECASTS\tMAE\tRMSE\tBIAS\tIN 80 %")
	for rows.Next() {
		var kind, parameter, model string
		var horizon uint8
		var n uint64
		var mae, rmse, bias, covered float64
		if err := rows.Scan(&kind, &parameter, &horizon, &model, &n, &mae, &rmse, &bias, &covered); err != nil {
			return fmt.Errorf("reading the score: %w", err)
		}
		_, _ = fmt.Fprintf(out, "%s\t%s\t%d\t%s\t%d\t%.2f\t%.2f\t%+.2f\t%.1f\n", kind, parameter, horizon, model, n, mae, rmse, bias, covered)
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading the score: %w", err)
	}
	return out.Flush()
}
