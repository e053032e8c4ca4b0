package ingest_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/schema/air"
)

// now is the current time of every test.
var now = time.Date(2026, 1, 20, 6, 0, 0, 0, time.UTC)

// station returns a test station.
func station(id string) air.Station {
	return air.Station{
		ID: id, Name: id, City: "Pune", State: "Maharashtra", Latitude: 18.52, Longitude: 73.86,
		Kind: air.Reference, Attribution: "MPCB", Licence: "GODL-India",
	}
}

func concentration(p air.Pollutant, at time.Time, value float64) air.Reading {
	return air.Reading{Parameter: p.Parameter(), At: at, Value: value, Kind: air.Concentration, Averaging: air.Hourly}
}

// collect returns a yield function and the batches that it received.
func collect(t *testing.T) (yield func(*ingest.Batch) error, batches func() []*ingest.Batch) {
	t.Helper()
	var got []*ingest.Batch
	t.Cleanup(func() {
		for _, b := range got {
			b.Release()
		}
	})
	return func(b *ingest.Batch) error { got = append(got, b); return nil }, func() []*ingest.Batch { return got }
}

// A builder keeps the first rejected values of each reason, with their records.
func TestBuilderKeepsRejectedValues(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	b.Reject(ingest.BadLine) // without a record
	line := int64(0)
	b.Describe(func() (int64, string) { return line, strings.Repeat("é", int(line)*600) })
	n := b.Station(station("a"))
	for line = 1; line <= 150; line++ {
		b.RejectField(ingest.BadNumber, "pm25")
		b.Missing(n, concentration(air.PM25, now, 0))
	}
	line = 2
	if err := b.Add(n, concentration(air.PM25, now.Add(time.Hour), 50)); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	got := batches()[0]
	if diff := cmp.Diff(ingest.Rejections{ingest.BadLine: 1, ingest.BadNumber: 150, ingest.MissingValue: 150, ingest.FutureTime: 1}, got.Rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
	if len(got.Values) != 101 {
		t.Fatalf("%d values are kept, want 100 of one reason and 1 of another", len(got.Values))
	}
	want := []ingest.RejectedValue{
		{Reason: ingest.BadNumber, Field: "pm25", Line: 1, Raw: strings.Repeat("é", 600)},
		{Reason: ingest.BadNumber, Field: "pm25", Line: 2, Raw: strings.Repeat("é", 1024)}, // 2 KiB
		{Reason: ingest.FutureTime, Field: "pm25", Station: "a", Line: 2, Raw: strings.Repeat("é", 1024)},
	}
	if diff := cmp.Diff(want, []ingest.RejectedValue{got.Values[0], got.Values[1], got.Values[100]}); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A rejected position is kept with the record of the reading, which need not have it.
func TestBuilderKeepsRejectedPositions(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	b.Describe(func() (int64, string) { return 3, `{"pm25":50}` })
	abroad := station("abroad")
	abroad.Latitude, abroad.Longitude = 51.5, -0.12
	b.Station(abroad)
	b.RejectPosition("", "north", "77.2")
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := []ingest.RejectedValue{
		{Reason: ingest.BadPosition, Field: "position", Station: "abroad", Line: 3, Raw: `latitude 51.5, longitude -0.12: {"pm25":50}`},
		{Reason: ingest.BadPosition, Field: "position", Line: 3, Raw: `latitude north, longitude 77.2: {"pm25":50}`},
	}
	if diff := cmp.Diff(want, batches()[0].Values); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}

// A run keeps the first values of each reason, whatever the number of its builders.
func TestRunBoundsValues(t *testing.T) {
	t.Parallel()
	run := ingest.Run{ID: 7}
	values := make([]ingest.RejectedValue, 60)
	for i := range values {
		values[i] = ingest.RejectedValue{Reason: ingest.BadNumber, Line: int64(i)}
	}
	for range 3 {
		run.Add(&ingest.Batch{Run: 7, Values: values, Rejected: ingest.Rejections{ingest.BadNumber: 60}})
	}
	run.Add(&ingest.Batch{Run: 6, Values: values, Rejected: ingest.Rejections{ingest.BadTime: 1}, Withdrawn: 2}) // fetched earlier
	if len(run.Values) != 100 || run.Values[99].Line != 39 {
		t.Errorf("%d values are kept, want 100 in their order", len(run.Values))
	}
	if diff := cmp.Diff(ingest.Rejections{ingest.BadNumber: 180}, run.Rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
	if run.Withdrawn != 2 {
		t.Errorf("%d readings are withdrawn, want 2", run.Withdrawn)
	}
}

func TestBuilderAppliesTheRules(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	abroad := station("abroad")
	abroad.City, abroad.State, abroad.Latitude = "  New_Delhi ", "", 51.5
	n := b.Station(abroad)
	for _, value := range []float64{50, -999, 60} {
		if err := b.Add(n, concentration(air.PM25, now.Add(-time.Duration(value)*time.Hour), value)); err != nil {
			t.Fatal(err)
		}
	}
	b.Station(station("silent")) // described, but it has nothing to say
	b.Reject(ingest.BadLine)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if len(batches()) != 1 {
		t.Fatalf("%d batches, want 1", len(batches()))
	}
	got := batches()[0]
	want := abroad
	want.Source, want.City, want.State, want.Latitude, want.Longitude = "test", "Delhi", "Delhi", 0, 0
	want.FirstSeen, want.LastSeen = now.Add(-60*time.Hour), now.Add(-50*time.Hour)
	if diff := cmp.Diff([]air.Station{want}, got.Stations); diff != "" {
		t.Errorf("stations (-want +got):\n%s", diff)
	}
	rejected := ingest.Rejections{ingest.BadPosition: 1, ingest.FutureTime: 1, ingest.BadLine: 1} // -999 hours lie ahead
	if diff := cmp.Diff(rejected, got.Rejected); diff != "" {
		t.Errorf("rejected (-want +got):\n%s", diff)
	}
	if got.Rows() != 2 || got.Reading(1).Value != 60 {
		t.Errorf("%d rows, the last %+v", got.Rows(), got.Reading(got.Rows()-1))
	}
}

func TestBatchesEndBetweenRows(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	n := b.Station(station("a"))
	const rows, perRow = 90_000, 7
	for row := range rows {
		b.At(int64(row))
		for value := range perRow {
			if err := b.Add(n, concentration(air.Pollutants[value], now.Add(-time.Duration(row)*time.Hour), 1)); err != nil {
				t.Fatal(err)
			}
		}
	}
	b.At(rows)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	total := 0
	for i, batch := range batches() {
		total += batch.Rows()
		if want := int64(total / perRow); batch.Position != want || total%perRow != 0 {
			t.Errorf("batch %d ends with value %d at position %d", i, total, batch.Position)
		}
	}
	if total != rows*perRow || len(batches()) < 3 {
		t.Errorf("%d values in %d batches, want %d", total, len(batches()), rows*perRow)
	}
}

func TestBuilderReturnsYieldError(t *testing.T) {
	t.Parallel()
	full := errors.New("full")
	for _, positioned := range []bool{false, true} {
		b := ingest.NewBuilder("test", now, func(batch *ingest.Batch) error { batch.Release(); return full })
		n := b.Station(station("a"))
		var err error
		for row := 0; err == nil && row < 800_000; row++ {
			if positioned {
				b.At(int64(row))
			}
			err = b.Add(n, concentration(air.PM25, now, 1))
		}
		if !errors.Is(err, full) {
			t.Errorf("Add = %v, want yield's error", err)
		}
		b.Discard()
	}
	b := ingest.NewBuilder("test", now, func(batch *ingest.Batch) error { batch.Release(); return full })
	b.Reject(ingest.BadLine)
	if err := b.Close(); !errors.Is(err, full) {
		t.Errorf("Close = %v, want yield's error", err)
	}
}

func TestEmptyFetchYieldsNothing(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	b.Station(station("a"))
	if err := b.Close(); err != nil || len(batches()) != 0 {
		t.Errorf("Close = %v after %d batches, want none", err, len(batches()))
	}
}

// TestMissingNamesTheKey checks that a cell without a value is counted and listed,
// unless its key is invalid.
func TestMissingNamesTheKey(t *testing.T) {
	t.Parallel()
	yield, batches := collect(t)
	b := ingest.NewBuilder("test", now, yield)
	n := b.Station(station("a"))
	b.Missing(n, concentration(air.PM25, now, 7))
	b.Missing(n, concentration(0, now, 0))
	b.Missing(n, concentration(air.PM25, now.Add(time.Hour), 0))
	b.Missing(n, concentration(air.PM25, time.Time{}, 0))
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	want := concentration(air.PM25, now, 0)
	want.Station, want.Source = "a", "test"
	got := batches()[0]
	if diff := cmp.Diff([]air.Reading{want}, got.Missing); diff != "" || got.Rejected[ingest.MissingValue] != 4 {
		t.Errorf("rejected %v, missing (-want +got):\n%s", got.Rejected, diff)
	}
}

// TestMissingFillsBatches checks that millions of cells without a value do not
// accumulate.
func TestMissingFillsBatches(t *testing.T) {
	t.Parallel()
	for _, positioned := range []bool{false, true} {
		total, most, count := 0, 0, 0
		b := ingest.NewBuilder("test", now, func(batch *ingest.Batch) error {
			defer batch.Release()
			total, most, count = total+len(batch.Missing), max(most, len(batch.Missing)), count+1
			return nil
		})
		n := b.Station(station("a"))
		const rows = 200_000
		for row := range rows {
			if positioned {
				b.At(int64(row))
			}
			b.Missing(n, concentration(air.PM25, now.Add(-time.Duration(row)*time.Minute), 0))
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if total != rows || most > 1<<16 || count < 3 {
			t.Errorf("positioned %v: %d missing in %d batches of at most %d, want %d", positioned, total, count, most, rows)
		}
	}
}
