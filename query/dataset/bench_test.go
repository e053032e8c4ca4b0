package dataset_test

import (
	"io"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/query/dataset"
)

// BenchmarkExport writes a million readings in each format, beside the same rows as the engine writes them.
func BenchmarkExport(b *testing.B) {
	const stations, each = 100, 10_000
	w := newFixture(b)
	w.stations(stations)
	w.readings(stations, each)
	raw := map[string]string{"parquet": "Parquet", "arrow": "ArrowStream", "csv": "CSVWithNames", "ndjson": "JSONEachRow"}
	ctx := clickhouse.Context(b.Context(), clickhouse.WithSettings(clickhouse.Settings{"final": 1, "max_threads": 2}))
	for _, format := range dataset.FormatNames() {
		b.Run(format, func(b *testing.B) {
			var ours, engines time.Duration
			for b.Loop() {
				began := time.Now()
				if rows := w.write(b, format, dataset.Selection{Table: table(b, "reading")}, io.Discard); rows != stations*each {
					b.Fatalf("%d rows", rows)
				}
				ours += time.Since(began)
				began = time.Now()
				stream, err := w.conn.QueryFormat(ctx, raw[format], "SELECT * FROM "+w.database+".reading ORDER BY station, parameter, at, kind, averaging")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.Copy(io.Discard, stream); err != nil {
					b.Fatal(err)
				}
				_ = stream.Close()
				engines += time.Since(began)
			}
			b.ReportMetric(engines.Seconds()/ours.Seconds(), "of-engine")
			b.ReportMetric(float64(stations*each*b.N)/ours.Seconds(), "rows/s")
		})
	}
}
