package preview

import (
	"strings"
	"testing"
	"time"

	"vayu/ingest/runner"
	"vayu/schema/air"
)

func TestHowOldTheNewestReadingIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 22, 11, 2, 0, 0, time.UTC)
	if got, want := age(now.Add(-5*time.Hour-32*time.Minute), now), ", the newest of 2026-11-22 05:30 UTC (5h32m0s ago)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := age(time.Time{}, now); got != "" {
		t.Errorf("without readings: %q", got)
	}
}

// A reply may have sequences that change the terminal.
func TestTextOfAPIIsOnePlainLine(t *testing.T) {
	t.Parallel()
	if got, want := oneLine("a\x1b[31m\r\n\tनमस्ते \u202eb\x00"), "a [31m नमस्ते b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestSampleShowsStations(t *testing.T) {
	t.Parallel()
	stations := []air.Station{{ID: "a-1", Name: "School\n1", City: "Pune", State: "Maharashtra", Latitude: 18.5, Longitude: 73.9}}
	for range shownStations {
		stations = append(stations, air.Station{ID: "a-2"})
	}
	var out strings.Builder
	if err := Sample(&out, runner.Sample{Stations: stations}); err != nil {
		t.Fatal(err)
	}
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	for i, want := range map[int]string{
		0:                 "STATION NAME CITY STATE LATITUDE LONGITUDE KIND",
		1:                 "a-1 School 1 Pune Maharashtra 18.5 73.9 none",
		2:                 "a-2 unknown unknown none",
		shownStations + 1: "… and 1 stations more",
	} {
		if got[i] != want {
			t.Errorf("line %d is %q, want %q", i, got[i], want)
		}
	}
}
