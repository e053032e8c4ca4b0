package file

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"vayu/ingest"
	"vayu/internal/testing/realdata"
)

// longListing repeats the rows of a real download.
func longListing(b *testing.B, times int) []byte {
	b.Helper()
	text, err := os.ReadFile(realdata.Path(b, "datagov/Khushal-08.csv"))
	if err != nil {
		b.Fatal(err)
	}
	head, rows, _ := bytes.Cut(text, []byte{'\n'})
	return slices.Concat(head, []byte{'\n'}, bytes.Repeat(rows, times))
}

// BenchmarkFile measures the path from a file's bytes to batches.
func BenchmarkFile(b *testing.B) {
	long := filepath.Join(b.TempDir(), "long.csv")
	if err := os.WriteFile(long, longTable(200_000), 0o600); err != nil {
		b.Fatal(err)
	}
	listing := filepath.Join(b.TempDir(), "listing.csv")
	if err := os.WriteFile(listing, longListing(b, 60), 0o600); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{
		long, listing, "datagov/Khushal-08.csv", "caaqm/chennai-daily-2010-2020.csv", "caaqm/delhi_4h_pm_octnov_2016_2018.csv",
		"cpcb/city_day.csv", "openaq/openaq_v1_sample_pollucheck.csv", "caaqm/ccr_export_BWSSB.xlsx", "cpcb/rss_feed_2025-12-09_part.xml",
	} {
		path := name
		if !filepath.IsAbs(name) {
			path = realdata.Path(b, name)
		}
		b.Run(fmt.Sprintf("file=%s", filepath.Base(path)), func(b *testing.B) {
			b.ReportAllocs()
			rows := 0
			for b.Loop() {
				f, err := Open("file", path, 0, now, shippedFormats(b))
				if err != nil {
					b.Fatal(err)
				}
				b.SetBytes(f.Size())
				err = f.Fetch(context.Background(), ingest.Window{}, func(batch *ingest.Batch) error {
					rows += batch.Rows()
					batch.Release()
					return nil
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "readings/s")
		})
	}
}
