package embedded_test

import (
	"fmt"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore/columnstoretest"
)

// TestGrafanaAsAnalyst sends what Grafana's ClickHouse plugin sends over HTTP: it is clickhouse-go with database/sql, and
// sets max_execution_time. Its macros are expanded as for a dashboard of one hour with an interval of a minute.
func TestGrafanaAsAnalyst(t *testing.T) {
	t.Parallel()
	fill(t)
	address, password := columnstoretest.AnalystAccess(t)
	db := clickhouse.OpenDB(&clickhouse.Options{
		Protocol: clickhouse.HTTP, Addr: []string{address}, Auth: clickhouse.Auth{Username: "analyst", Password: password, Database: "vayu"},
		Settings: clickhouse.Settings{"max_execution_time": "60"}, DialTimeout: 10 * time.Second,
	})
	t.Cleanup(func() { _ = db.Close() })
	if err := db.PingContext(t.Context()); err != nil { // Save & test
		t.Fatal(err)
	}
	const from, to = 1700000000, 1700003600
	series := "SELECT toDateTime(" + fmt.Sprint(from) + ") + number * 60 AS at, number AS aqi FROM numbers(60)"
	for name, one := range map[string]struct {
		query string
		rows  int // -1 for at least one
	}{
		"version":               {"SELECT version()", 1},
		"databases":             {"SHOW DATABASES", -1},
		"tables":                {`SHOW TABLES FROM "vayu"`, -1},
		"columns":               {`DESC TABLE "vayu"."reading"`, -1},
		"columns of a query":    {`DESCRIBE (SELECT * FROM "vayu"."reading" LIMIT 1)`, -1},
		"keys of ad hoc filter": {"SELECT name, type, table FROM system.columns WHERE database IN ('vayu')", -1},
		"values of a filter":    {"SELECT DISTINCT id FROM vayu.reading LIMIT 1000", -1},
		"ad hoc filter":         {"SELECT id FROM vayu.reading settings additional_table_filters={'vayu.reading' : ' id = \\'3\\' '}", 1},
		"$__timeFilter":         {fmt.Sprintf("SELECT * FROM (%s) WHERE at >= toDateTime(%d) AND at <= toDateTime(%d)", series, from+60, to), 59},
		"$__timeFilter_ms":      {fmt.Sprintf("SELECT * FROM (%s) WHERE at >= fromUnixTimestamp64Milli(%d) AND at <= fromUnixTimestamp64Milli(%d)", series, (from+60)*1000, to*1000), 59},
		"$__timeInterval":       {"SELECT toStartOfInterval(toDateTime(at), INTERVAL 600 second) AS time, avg(aqi) FROM (" + series + ") GROUP BY time ORDER BY time", 7},
		"$__timeInterval_ms":    {"SELECT toStartOfInterval(toDateTime64(at, 3), INTERVAL 600000 millisecond) AS time, avg(aqi) FROM (" + series + ") GROUP BY time ORDER BY time", 7},
		"$__dateFilter":         {"SELECT * FROM (" + series + ") WHERE toDate(at) >= toDate('2023-11-14') AND toDate(at) <= toDate('2023-11-15')", 60},
		"$__dateTimeFilter":     {fmt.Sprintf("SELECT * FROM (%s) WHERE (toDate(at) >= toDate('2023-11-14') AND toDate(at) <= toDate('2023-11-15')) AND (at >= toDateTime(%d) AND at <= toDateTime(%d))", series, from, to), 60},
		"query builder":         {fmt.Sprintf(`SELECT at as "time", aqi FROM (%s) WHERE ( time >= toDateTime(%d) AND time <= toDateTime(%d) ) ORDER BY time ASC LIMIT 1000`, series, from, to), 60},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rows, err := db.QueryContext(t.Context(), one.query)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			got := 0
			for rows.Next() {
				got++
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			if one.rows >= 0 && got != one.rows || got == 0 {
				t.Errorf("got %d rows, want %d", got, one.rows)
			}
		})
	}
}
