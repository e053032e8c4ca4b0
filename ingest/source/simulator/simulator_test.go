package simulator_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/ingest"
	"vayu/ingest/runner"
	"vayu/ingest/source/simulator"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

var to = time.Date(2026, 1, 20, 6, 0, 0, 0, time.UTC)

func newSource(tb testing.TB) ingest.Source {
	tb.Helper()
	src, err := simulator.DefaultConfig().New(simulator.Name, time.Now)
	if err != nil {
		tb.Fatal(err)
	}
	return src
}

func fetch(tb testing.TB, from, to time.Time) runner.Sample {
	tb.Helper()
	sample, err := runner.FetchSample(tb.Context(), newSource(tb), ingest.Window{From: from, To: to}, math.MaxInt)
	if err != nil {
		tb.Fatal(err)
	}
	return sample
}

type key struct {
	station   string
	parameter parameter.Parameter
	at        time.Time
}

func byKey(readings []air.Reading) map[key]float64 {
	out := make(map[key]float64)
	for _, r := range readings {
		out[key{r.Station, r.Parameter, r.At}] = r.Value
	}
	return out
}

func TestAnyWindowGivesTheSameValues(t *testing.T) {
	t.Parallel()
	whole := byKey(fetch(t, to.Add(-48*time.Hour), to).Readings)
	parts := byKey(fetch(t, to.Add(-48*time.Hour), to.Add(-17*time.Hour)).Readings)
	for k, v := range byKey(fetch(t, to.Add(-17*time.Hour), to).Readings) {
		if _, twice := parts[k]; twice {
			t.Fatalf("%v lies in both windows", k)
		}
		parts[k] = v
	}
	if diff := cmp.Diff(whole, parts); diff != "" {
		t.Errorf("two windows together (-whole +parts):\n%s", diff)
	}
}

func TestHoursAreThoseOfAnIndianClock(t *testing.T) {
	t.Parallel()
	sample := fetch(t, to.Add(-3*time.Hour), to)
	got := map[time.Time]bool{}
	for _, r := range sample.Readings {
		got[r.At] = true
	}
	want := map[time.Time]bool{ // (03:00, 06:00] UTC
		to.Add(-150 * time.Minute): true, to.Add(-90 * time.Minute): true, to.Add(-30 * time.Minute): true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hours (-want +got):\n%s", diff)
	}
	edge := to.Add(-30 * time.Minute)
	if n := len(fetch(t, edge, edge).Readings); n != 0 {
		t.Errorf("an empty window gave %d readings", n)
	}
	if n := len(fetch(t, edge.Add(-time.Hour), edge).Readings); n < 1000 {
		t.Errorf("the hour (From, To] gave %d readings", n)
	}
}

func TestStationsAreMarkedAsSimulated(t *testing.T) {
	t.Parallel()
	sample := fetch(t, to.Add(-12*time.Hour), to)
	places, ids := map[string]int{}, map[string]bool{}
	for _, s := range sample.Stations {
		if ids[s.ID] {
			t.Errorf("two stations are called %q", s.ID)
		}
		ids[s.ID] = true
		places[s.City+", "+s.State]++
		if !strings.Contains(s.Name, "Simulated Station") || s.Attribution != "Simulated data" || !strings.HasPrefix(s.ID, "simulator-") {
			t.Errorf("station %+v does not say that it is simulated", s)
		}
		if !s.Located() {
			t.Errorf("station %q has no position in India", s.ID)
		}
	}
	if len(places) < 60 {
		t.Errorf("%d cities, want at least 60", len(places))
	}
	for place, n := range places {
		if n < 2 || n > 6 {
			t.Errorf("%s has %d stations, want 2 to 6", place, n)
		}
	}
	if sample.Rejected != nil {
		t.Errorf("the rules refuse what the simulator invents: %v", sample.Rejected)
	}
}

func mean(readings []air.Reading, p air.Pollutant, prefix string, keep func(air.Reading) bool) float64 {
	sum, n := 0.0, 0.0
	for _, r := range readings {
		if r.Parameter == p.Parameter() && strings.HasPrefix(r.Station, prefix) && (keep == nil || keep(r)) {
			sum, n = sum+r.Value, n+1
		}
	}
	return math.Round(sum/n*10) / 10
}

func TestAirLooksLikeIndia(t *testing.T) {
	t.Parallel()
	winter := fetch(t, to.Add(-14*24*time.Hour), to).Readings
	monsoonTo := time.Date(2025, 8, 10, 0, 0, 0, 0, time.UTC)
	monsoon := fetch(t, monsoonTo.Add(-14*24*time.Hour), monsoonTo).Readings
	hour := func(h int) func(air.Reading) bool {
		return func(r air.Reading) bool { return r.At.In(schema.India).Hour() == h }
	}
	delhi := "simulator-delhi-"
	for _, c := range []struct {
		what        string
		less, more  float64
		ratioAtMost float64 // less/more
	}{
		{"Delhi's PM2.5, monsoon and winter", mean(monsoon, air.PM25, delhi, nil), mean(winter, air.PM25, delhi, nil), 0.4},
		{"winter PM2.5, Chennai and Delhi", mean(winter, air.PM25, "simulator-chennai-", nil), mean(winter, air.PM25, delhi, nil), 0.6},
		{"NO2, afternoon and evening", mean(winter, air.NO2, "", hour(15)), mean(winter, air.NO2, "", hour(21)), 0.6},
		{"NO2, afternoon and morning", mean(winter, air.NO2, "", hour(15)), mean(winter, air.NO2, "", hour(9)), 0.6},
		{"ozone, night and afternoon", mean(winter, air.O3, "", hour(4)), mean(winter, air.O3, "", hour(14)), 0.5},
		{"PM2.5 and PM10", mean(winter, air.PM25, "", nil), mean(winter, air.PM10, "", nil), 0.7},
	} {
		t.Run(c.what, func(t *testing.T) {
			if c.less/c.more > c.ratioAtMost {
				t.Errorf("%.1f and %.1f, want a ratio of at most %.1f", c.less, c.more, c.ratioAtMost)
			}
		})
	}
}

func TestSomeReadingsAreMissing(t *testing.T) {
	t.Parallel()
	sample := fetch(t, to.Add(-10*24*time.Hour), to)
	share := float64(len(sample.Readings)) / float64(len(sample.Stations)*7*240)
	if share < 0.9 || share > 0.995 {
		t.Errorf("%.1f %% of the readings are there, want gaps, but few", share*100)
	}
}

func TestFetchStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := ingest.Window{From: to.Add(-time.Hour), To: to}
	if err := newSource(t).Fetch(ctx, w, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("Fetch after the end of its context = %v, want context.Canceled", err)
	}
	full := errors.New("full")
	err := newSource(t).Fetch(t.Context(), w, func(b *ingest.Batch) error { b.Release(); return full })
	if !errors.Is(err, full) {
		t.Errorf("Fetch = %v, want yield's error", err)
	}
}

// BenchmarkSixtyDays measures the first fill of the sandbox.
func BenchmarkSixtyDays(b *testing.B) {
	rows := 0
	for b.Loop() {
		rows = 0
		err := newSource(b).Fetch(b.Context(), ingest.Window{From: to.Add(-60 * 24 * time.Hour), To: to}, func(batch *ingest.Batch) error {
			rows += batch.Rows()
			batch.Release()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows), "readings/op")
}
