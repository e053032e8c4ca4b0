package dataset_test

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/query/dataset"
)

// The limits that `make bench-export` checks. Speed is a share of that of the engine, in the same run and format.
const (
	leastSpeed    = 0.7
	mostMegabytes = 200 // resident memory of the process that exports
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
			share := engines.Seconds() / ours.Seconds()
			b.ReportMetric(share, "of-engine")
			b.ReportMetric(float64(stations*each*b.N)/ours.Seconds(), "rows/s")
			if share < leastSpeed {
				b.Errorf("the export has %.2f of the speed of the engine, want %.2f or more", share, leastSpeed)
			}
		})
	}
}

// BenchmarkExportMemory writes ten million readings in each format. The engine is another process.
func BenchmarkExportMemory(b *testing.B) {
	const stations, each = 1_000, 10_000
	w := newFixture(b)
	w.stations(stations)
	w.readings(stations, each)
	for _, format := range dataset.FormatNames() {
		b.Run(format, func(b *testing.B) {
			for b.Loop() {
				forgetPeak(b)
				began := time.Now()
				if rows := w.write(b, format, dataset.Selection{Table: table(b, "reading")}, io.Discard); rows != stations*each {
					b.Fatalf("%d rows", rows)
				}
				b.ReportMetric(stations*each/time.Since(began).Seconds(), "rows/s")
			}
			peak := peakMegabytes(b)
			b.ReportMetric(peak, "peak-MB")
			if peak > mostMegabytes {
				b.Errorf("the process had %.0f MB of resident memory, want %d or less", peak, mostMegabytes)
			}
		})
	}
}

// forgetPeak makes the present resident memory the peak (proc(5), clear_refs).
func forgetPeak(b *testing.B) {
	b.Helper()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0o600); err != nil {
		b.Skipf("the peak of the memory is not known here: %v", err)
	}
}

// peakMegabytes returns the peak of the resident memory of this process.
func peakMegabytes(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	kilobytes, err := strconv.Atoi(strings.Fields(after)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kilobytes) / 1000
}
