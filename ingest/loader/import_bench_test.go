package loader_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/ingest/runner"
	"vayu/ingest/source"
)

// BenchmarkImport imports a CSV file of a million readings into ClickHouse, as
// `vayu import` does.
func BenchmarkImport(b *testing.B) {
	conn, name := database(b)
	path := filepath.Join(b.TempDir(), "hours.csv")
	all, err := source.Open(source.DefaultConfig(), "", false)
	if err != nil {
		b.Fatal(err)
	}
	readings, records := writeHours(b, path), newJournal(b)
	for b.Loop() {
		importer := runner.NewImporter(loader.New(conn, name), records, b.TempDir())
		summary, err := importer.Import(b.Context(), runner.Job{
			Key:  path,
			Open: func(position int64) (ingest.Source, error) { return all.Opener("import", time.Now)(path, position) },
		})
		if err != nil {
			b.Fatal(err)
		}
		if summary.Stored != readings {
			b.Fatalf("%d readings stored, want %d: %v", summary.Stored, readings, summary.Rejected)
		}
	}
	b.ReportMetric(float64(readings)*float64(b.N)/b.Elapsed().Seconds(), "readings/s")
}

// writeHours writes a year of hourly values of 20 stations as a CAAQM export and
// returns the number of readings.
func writeHours(b *testing.B, path string) int {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriter(f)
	fmt.Fprintln(out, "city;site_name;site;state;query_name;to_date;to_time;from_date;from_time;PM2.5;PM10;NO2;SO2;CO;Ozone")
	begin := time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	readings := 0
	for station := range 20 {
		for h := range 8760 {
			from, to := begin.Add(time.Duration(h)*time.Hour), begin.Add(time.Duration(h+1)*time.Hour)
			fmt.Fprintf(out, "Pune;Hours %d, Pune - TEST;site_%d;Maharashtra;made;%s;%s;%s;%s;%d.5;%d;%d.25;%d;%d.75;%d\n", station, station,
				to.Format("02-Jan-2006"), to.Format("15:04"), from.Format("02-Jan-2006"), from.Format("15:04"),
				(h*7+station)%200, (h*11+station)%300, (h*5+station)%90, (h*3+station)%40, h%3, h%120)
			readings += 6
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	return readings
}
