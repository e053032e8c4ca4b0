// Package forecast issues forecasts of air quality for the next days and hours, inside ClickHouse. A replay computes
// the forecasts that the package would have issued on past days. docs/glossary.md defines the terms.
//
// The model of days is a damped anomaly: the climatology of a place, plus weighted anomalies of the last day and of the
// last week. Persistence and climatology are issued as two further models. The view forecast_score compares the three
// models with the values that were measured later. For each place, parameter and horizon, the API serves persistence if
// the damped anomaly was worse over the last 90 days.
//
// Hourly PM2.5 has a model of its own, the diurnal anomaly: the usual value of the hour of the day over two weeks, plus
// weighted anomalies of the last three hours and of the last day.
//
// This package is the only writer of the tables forecast, forecast_issue, forecast_fit, forecast_climate,
// forecast_residual and forecast_input. The same holds for the tables of hourly forecasts, whose names begin with
// forecast_hour.
package forecast

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/columnstore"
	"vayu/schema"
)

// Conn is the part of a ClickHouse connection that a Forecaster uses.
type Conn interface {
	Exec(ctx context.Context, query string, args ...any) error
	Query(ctx context.Context, query string, args ...any) (driver.Rows, error)
}

// Forecaster fits and issues the forecasts of one database. Its methods must not run concurrently.
type Forecaster struct {
	conn     Conn
	database string
	sql      statements
	log      *slog.Logger
	metrics  *metrics
}

// New returns a Forecaster for a database. It computes nothing yet. An error means that the template of an
// SQL statement is invalid.
func New(conn Conn, database string, log *slog.Logger, reg prometheus.Registerer) (*Forecaster, error) {
	sql, err := newStatements(database)
	if err != nil {
		return nil, err
	}
	return &Forecaster{conn: conn, database: database, sql: sql, log: log.With("database", database), metrics: newMetrics(reg, database)}, nil
}

// dayText formats an Indian day as a query parameter.
func dayText(d schema.Day) string { return d.String() }

// instantText formats a time as a query parameter of type DateTime64(3, 'UTC').
func instantText(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05.000") }

// exec runs a statement. With a new deduplication token, the server does not mistake an INSERT for a retry of an
// earlier, equal one.
func (f *Forecaster) exec(ctx context.Context, what, text string, p clickhouse.Parameters) error {
	own := clickhouse.Context(ctx, clickhouse.WithParameters(p),
		clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnstore.NewToken()}))
	begin := time.Now()
	if err := f.conn.Exec(own, text); err != nil {
		return fmt.Errorf("forecasting (%s): %w", what, err)
	}
	f.log.DebugContext(ctx, "forecast step", "step", what, "elapsed", time.Since(begin).Round(time.Millisecond))
	return nil
}

// scan runs a query that returns one row, and scans that row into `dest`. Without a row, it leaves `dest` unchanged.
func (f *Forecaster) scan(ctx context.Context, what, text string, p clickhouse.Parameters, dest ...any) error {
	rows, err := f.conn.Query(clickhouse.Context(ctx, clickhouse.WithParameters(p)), text)
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return fmt.Errorf("reading %s: %w", what, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}
