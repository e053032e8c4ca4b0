package loader_test

import (
	"testing"
	"time"

	"vayu/ingest"
	"vayu/ingest/loader"
	"vayu/schema/air"
)

// TestCorrectionToMissingRemovesTheReading checks that a correction to missing
// withdraws the source's own reading. Readings of other sources stay, and a later
// value is valid again.
func TestCorrectionToMissingRemovesTheReading(t *testing.T) {
	t.Parallel()
	conn, name := database(t)
	l := loader.New(conn, name)
	at := now.Add(-30 * time.Minute)
	value := concentration(air.PM25, at, 999)
	load := func(source string, readings, missing []air.Reading) *ingest.Batch {
		t.Helper()
		b := new(ingest.Batch)
		if len(readings) > 0 {
			b = batchOf(t, source, station("a"), readings...)
		}
		for _, r := range missing {
			r.Station, r.Source = "a", source
			b.Missing = append(b.Missing, r)
		}
		if err := l.Load(t.Context(), b); err != nil {
			t.Fatal(err)
		}
		return b
	}
	stored := func(want int) {
		t.Helper()
		if got := count(t, conn, "SELECT count() FROM "+name+".reading FINAL"); got != want {
			t.Errorf("%d readings are stored, want %d", got, want)
		}
	}
	load("feed", []air.Reading{value, concentration(air.PM10, at, 80)}, nil)
	never := concentration(air.NO2, at, 0)
	if b := load("mirror", nil, []air.Reading{value, never}); b.Withdrawn != 0 {
		t.Errorf("another source removed %d readings", b.Withdrawn)
	}
	stored(2)
	if b := load("feed", nil, []air.Reading{value, value, never}); b.Withdrawn != 1 {
		t.Errorf("%d readings were removed, want 1", b.Withdrawn)
	}
	stored(1)
	if b := load("feed", nil, []air.Reading{value}); b.Withdrawn != 0 {
		t.Errorf("a removed reading was removed again")
	}
	load("feed", []air.Reading{value}, nil)
	stored(2)
}
