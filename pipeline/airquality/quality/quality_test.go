package quality_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/airquality/quality"
)

// start is the end of the first hour of 10 March 2026 in India.
var start = time.Date(2026, 3, 9, 19, 30, 0, 0, time.UTC)

func TestTests(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		parameter string
		values    []float64
		want      []string
	}{
		"plain": {"pm25", []float64{50, 52, 49, 60, 55}, []string{}},
		"not true": {"pm25", []float64{50, 4999}, []string{
			"20:30 gross_range fail: 4999", "20:30 rate_of_change suspect: 50 to 4999"}},
		"full scale": {"pm25", []float64{900, 985}, []string{"20:30 gross_range suspect: 985"}},
		"below zero": {"so2", []float64{5, -2, 5, -11}, []string{"20:30 gross_range suspect: -2", "22:30 gross_range fail: -11"}},
		"spike":      {"pm25", []float64{50, 999.99, 52, 50}, []string{"20:30 gross_range suspect: 999.99", "20:30 rate_of_change suspect: 50 to 999.99", "20:30 spike suspect: 999.99 between 50 and 52"}},
		"dip":        {"no2", []float64{80, 5, 78}, []string{"20:30 spike suspect: 5 between 80 and 78"}},
		"step":       {"so2", []float64{10, 150, 148}, []string{"20:30 rate_of_change suspect: 10 to 150"}},
		"flat line":  {"o3", []float64{9, 7, 7, 7, 7, 8}, []string{"20:30 flat_line suspect: repeated 7", "21:30 flat_line suspect: repeated 7", "22:30 flat_line suspect: repeated 7", "23:30 flat_line suspect: repeated 7"}},
		"short flat": {"o3", []float64{9, 7, 7, 7, 8}, []string{}},
		"gap":        {"o3", []float64{9, 0, 0, 8}, []string{"21:30 time_gap missing: no reading for 120 minutes", "22:30 rate_of_change not_evaluated: no reading in the hour before"}},
	}
	w := newFixture(t, quality.Settings{})
	var r readings
	var stations []string
	for name, c := range cases {
		stations = append(stations, name)
		for i, v := range c.values {
			if v != 0 {
				r.add(name, c.parameter, start.Add(time.Duration(i)*time.Hour), 60, v)
			}
		}
	}
	w.store(&r)
	for range 2 { // the second run is a no-op
		w.run(start, start.Add(12*time.Hour), stations...)
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := []string{
				"18:30 time_gap missing: no reading for more than 4 hours",
				"19:30 rate_of_change not_evaluated: no reading in the hour before",
			}
			if diff := cmp.Diff(append(first, c.want...), w.results(t, name)); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
	if written, kept := w.count("SELECT count() FROM %s.reading_quality"), w.count("SELECT count() FROM %s.reading_quality FINAL"); written != kept {
		t.Errorf("%d rows were written for %d results", written, kept)
	}
}
