// Package journal writes the tables `source_run` and `rejected` of the database vayu_ops:
// runs of sources, and the values that they rejected.
package journal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/ingest"
	"vayu/internal/columnstore"
	"vayu/schema"
)

// Journal records the runs of one world (live or sandbox). It is safe for concurrent use.
type Journal struct {
	conn     driver.Conn
	database string
	world    int8 // value of the column `world`: 1 for live, 2 for sandbox
}

// New returns a journal in a database, normally [schema.OpsDatabase]. It does not connect; the caller owns conn.
func New(conn driver.Conn, database string, world schema.World) *Journal {
	j := &Journal{conn: conn, database: database, world: 1}
	if world == schema.Sandbox {
		j.world = 2
	}
	return j
}

// runColumns are the columns of the table `source_run` with the types that the client sends.
var runColumns = []clickhouse.ColumnNameAndType{
	{Name: "run", Type: "UInt64"}, {Name: "world", Type: "Int8"}, {Name: "source", Type: "String"},
	{Name: "kind", Type: "Int8"}, {Name: "started", Type: "DateTime64(6, 'UTC')"}, {Name: "seconds", Type: "Float64"},
	{Name: "window_from", Type: "DateTime('UTC')"}, {Name: "window_to", Type: "DateTime('UTC')"},
	{Name: "outcome", Type: "String"}, {Name: "error", Type: "String"}, {Name: "requests", Type: "UInt32"},
	{Name: "bytes", Type: "UInt64"}, {Name: "body_sha256", Type: "String"}, {Name: "stored", Type: "UInt64"},
	{Name: "withdrawn", Type: "UInt64"}, {Name: "newest", Type: "DateTime('UTC')"}, {Name: "rejected", Type: "Map(String, UInt64)"},
	{Name: "config_sha256", Type: "String"}, {Name: "fingerprint", Type: "String"},
	{Name: "fields", Type: "Map(String, String)"}, {Name: "units", Type: "Map(String, Array(String))"},
	{Name: "hours", Type: "Map(DateTime('UTC'), UInt32)"},
}

// valueColumns are the columns of the table `rejected` with the types that the client sends.
var valueColumns = []clickhouse.ColumnNameAndType{
	{Name: "run", Type: "UInt64"}, {Name: "world", Type: "Int8"}, {Name: "source", Type: "String"},
	{Name: "started", Type: "DateTime64(6, 'UTC')"}, {Name: "number", Type: "UInt32"}, {Name: "reason", Type: "String"},
	{Name: "field", Type: "String"}, {Name: "line", Type: "UInt64"}, {Name: "raw", Type: "String"}, {Name: "station", Type: "String"},
}

// Record stores runs and their rejected values. It is idempotent, so the caller can record the same runs again after an
// error.
func (j *Journal) Record(ctx context.Context, runs []ingest.Run) error {
	if err := j.recordValues(ctx, runs); err != nil {
		return fmt.Errorf("recording rejected values: %w", err)
	}
	if err := j.recordRuns(ctx, runs); err != nil {
		return fmt.Errorf("recording runs of sources: %w", err)
	}
	return nil
}

func (j *Journal) recordRuns(ctx context.Context, runs []ingest.Run) error {
	return columnstore.Insert(ctx, j.conn, j.database+".source_run", columnstore.NewToken(), runColumns, []any{
		column(runs, func(r *ingest.Run) uint64 { return r.ID }),
		column(runs, func(*ingest.Run) int8 { return j.world }),
		column(runs, func(r *ingest.Run) string { return r.Source }),
		column(runs, func(r *ingest.Run) int8 { return int8(r.Kind) }),
		column(runs, func(r *ingest.Run) time.Time { return r.Started() }),
		column(runs, func(r *ingest.Run) float64 { return r.Elapsed.Seconds() }),
		column(runs, func(r *ingest.Run) time.Time { return dateTime(r.Window.From) }),
		column(runs, func(r *ingest.Run) time.Time { return dateTime(r.Window.To) }),
		column(runs, func(r *ingest.Run) string { return r.Outcome }),
		column(runs, func(r *ingest.Run) string { return r.Error }),
		column(runs, func(r *ingest.Run) uint32 { return uint32(r.Received.Requests) }),
		column(runs, func(r *ingest.Run) uint64 { return uint64(r.Received.Bytes) }),
		column(runs, func(r *ingest.Run) string { return r.Received.SHA256 }),
		column(runs, func(r *ingest.Run) uint64 { return uint64(r.Stored) }),
		column(runs, func(r *ingest.Run) uint64 { return uint64(r.Withdrawn) }),
		column(runs, func(r *ingest.Run) time.Time { return dateTime(r.Newest) }),
		column(runs, func(r *ingest.Run) map[string]uint64 {
			counts := make(map[string]uint64, len(r.Rejected))
			for reason, n := range r.Rejected {
				counts[string(reason)] = uint64(n)
			}
			return counts
		}),
		column(runs, func(r *ingest.Run) string { return r.ConfigSHA256 }),
		column(runs, func(r *ingest.Run) string { return r.Fingerprint.Hash() }),
		column(runs, func(r *ingest.Run) map[string]string {
			fields := make(map[string]string, len(r.Fingerprint.Fields))
			for path, is := range r.Fingerprint.Fields {
				fields[path] = is.String()
			}
			return fields
		}),
		column(runs, func(r *ingest.Run) map[string][]string {
			units := make(map[string][]string, len(r.Fingerprint.Units))
			for parameter, all := range r.Fingerprint.Units {
				units[parameter] = slices.Sorted(slices.Values(all))
			}
			return units
		}),
		column(runs, func(r *ingest.Run) map[time.Time]uint32 {
			hours := make(map[time.Time]uint32, len(r.Hours))
			for end, n := range r.Hours {
				hours[time.Unix(end, 0).UTC()] = uint32(n)
			}
			return hours
		}),
	})
}

// valueRow is a rejected value with its run and its position among the values of the run.
type valueRow struct {
	*ingest.Run
	ingest.RejectedValue

	number uint32
}

func (j *Journal) recordValues(ctx context.Context, runs []ingest.Run) error {
	var rows []valueRow
	for i := range runs {
		for n, value := range runs[i].Values {
			rows = append(rows, valueRow{&runs[i], value, uint32(n)})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return columnstore.Insert(ctx, j.conn, j.database+".rejected", columnstore.NewToken(), valueColumns, []any{
		column(rows, func(r *valueRow) uint64 { return r.ID }),
		column(rows, func(*valueRow) int8 { return j.world }),
		column(rows, func(r *valueRow) string { return r.Source }),
		column(rows, func(r *valueRow) time.Time { return r.Started() }),
		column(rows, func(r *valueRow) uint32 { return r.number }),
		column(rows, func(r *valueRow) string { return string(r.Reason) }),
		column(rows, func(r *valueRow) string { return r.Field }),
		column(rows, func(r *valueRow) uint64 { return uint64(r.Line) }),
		column(rows, func(r *valueRow) string { return r.Raw }),
		column(rows, func(r *valueRow) string { return r.Station }),
	})
}

// column applies the function `of` to each row, and returns the results.
func column[R, T any](rows []R, of func(*R) T) []T {
	out := make([]T, len(rows))
	for i := range rows {
		out[i] = of(&rows[i])
	}
	return out
}

// dateTime returns t, or the start of 1970 if t is earlier, because ClickHouse's DateTime begins there. For example,
// an open window has the zero time as its start.
func dateTime(t time.Time) time.Time {
	if t.Before(time.Unix(0, 0)) {
		return time.Unix(0, 0)
	}
	return t
}
