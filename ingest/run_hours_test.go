package ingest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// A run counts its readings by Indian hour. Old readings, as those of a backfill, do not count.
func TestRunCountsReadingsByHour(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	run := ingest.Run{ID: ingest.NewRunID(now)}
	b := ingest.NewBuilder("feed", now, func(b *ingest.Batch) error {
		run.Add(b)
		b.Release()
		return nil
	})
	station := b.Station(air.Station{ID: "a"})
	for _, at := range []time.Duration{0, -29*time.Minute - 59*time.Second, -30 * time.Minute, -90 * time.Minute, -90*time.Minute - time.Second, -8 * 24 * time.Hour} {
		if err := b.Add(station, air.Reading{Parameter: parameter.PM25, At: now.Add(at), Value: 7, Kind: air.Concentration, Averaging: 15}); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	end := func(text string) int64 {
		at, err := time.Parse(time.TimeOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		return now.Truncate(24 * time.Hour).Add(time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute).Unix()
	}
	want := map[int64]int{end("12:30:00"): 2, end("11:30:00"): 1, end("10:30:00"): 2}
	if diff := cmp.Diff(want, run.Hours); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
