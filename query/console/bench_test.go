package console_test

import (
	"context"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"vayu/internal/columnstore/columnstoretest"
	"vayu/query/console"
)

// hourly has the columns of hours of stations. It has as many rows as ten years of 26 stations.
const hourly = `SELECT number % 600 AS station, %s AS at, number / 7 AS pm25, 'Delhi' AS city FROM numbers(2300000)`

const (
	seconds = "toDateTime('2016-01-01 00:00:00', 'UTC') + number"
	// instants is what the console makes of seconds for Arrow, which otherwise has them as numbers.
	instants = "toDateTime64(" + seconds + ", 6, 'UTC')"
)

// minRatio is the least acceptable time of curl divided by that of the console.
const minRatio = 0.9

// BenchmarkAgainstCurl writes a result to a file, in turns with curl and with the console, both as analyst. The metric
// ratio is the least time of curl divided by the least time of the console, because other work on the machine can only
// lengthen a run. With curl, the file of ArrowNumbers has instants as numbers of half the size, so it has no least
// ratio. The metric peak-MB is the largest memory of this process.
func BenchmarkAgainstCurl(b *testing.B) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		b.Skip(err)
	}
	address, password := columnstoretest.AnalystAccess(b)
	client, to, err := columnstoretest.New(b).HTTP(true)
	if err != nil {
		b.Fatal(err)
	}
	query := strings.Replace(hourly, "%s", seconds, 1)
	for _, run := range []struct {
		name, format, instants string
		least                  float64
	}{
		{"CSV", "CSV", seconds, minRatio},
		{"Parquet", "Parquet", seconds, minRatio},
		{"Arrow", "Arrow", instants, minRatio},
		{"ArrowNumbers", "Arrow", seconds, 0},
	} {
		b.Run(run.name, func(b *testing.B) {
			statement := strings.Replace(hourly, "%s", run.instants, 1) + " FORMAT " + run.format
			c := console.Config{HTTP: client, URL: to, Database: "default", Format: run.format, Out: io.Discard, Err: io.Discard}
			tools := [2]func(ctx context.Context, file string) error{
				func(ctx context.Context, file string) error {
					return exec.CommandContext(ctx, curl, "-sSf", "-u", "analyst:"+password, "-o", file, "http://"+address+"/?final=1", "-d", statement).Run()
				},
				func(ctx context.Context, file string) error {
					return c.Script(ctx, console.Input{Args: []string{query}, Stdin: strings.NewReader("")}, file)
				},
			}
			least := [2]time.Duration{math.MaxInt64, math.MaxInt64}
			for b.Loop() {
				for i, write := range tools {
					least[i] = min(least[i], took(b, write))
				}
			}
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			ratio := least[0].Seconds() / least[1].Seconds()
			if ratio < run.least {
				b.Errorf("got a ratio of %.2f, want at least %.2f", ratio, run.least)
			}
			b.ReportMetric(ratio, "ratio")
			b.ReportMetric(least[1].Seconds()*1e3, "console-ms")
			b.ReportMetric(float64(memory.Sys)/1e6, "peak-MB")
		})
	}
}

// took returns the time that write needs for a file of the result.
func took(b *testing.B, write func(ctx context.Context, file string) error) time.Duration {
	b.Helper()
	file := filepath.Join(b.TempDir(), "result")
	began := time.Now()
	if err := write(b.Context(), file); err != nil {
		b.Fatal(err)
	}
	elapsed := time.Since(began)
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	if got, want := info.Size(), int64(1<<20); got < want {
		b.Fatalf("the file has %d bytes, want at least %d", got, want)
	}
	_ = os.Remove(file)
	return elapsed
}
