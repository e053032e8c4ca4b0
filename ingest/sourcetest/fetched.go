package sourcetest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
)

// fetched is everything that a fetch yielded.
type fetched struct {
	batches  int
	readings []string
	missing  []string
	stations map[string]string
	rejected ingest.Rejections
}

// collect returns a yield function that collects batches and checks their invariants.
func (h *fetched) collect(t *testing.T, c *Case) func(*ingest.Batch) error {
	h.stations = make(map[string]string)
	return func(b *ingest.Batch) error {
		defer b.Release()
		h.batches++
		if !b.Readings.Schema().Equal(air.ReadingColumns) {
			t.Errorf("a batch has the columns %v, want %v", b.Readings.Schema(), air.ReadingColumns)
			return nil
		}
		h.rejected.Merge(b.Rejected)
		described := make(map[string]bool)
		for _, s := range b.Stations {
			described[s.ID] = true
			h.stations[s.ID] = stationLine(&s)
		}
		if len(b.Missing) > b.Rejected[ingest.MissingValue] {
			t.Errorf("a batch has %d missing values, and counts %d", len(b.Missing), b.Rejected[ingest.MissingValue])
		}
		for _, r := range b.Missing {
			r.Value, _ = r.Parameter.Range() // Value is unused
			checkReading(t, c, r)
			h.missing = append(h.missing, fmt.Sprintf("%s,%s,%s,%s,%d", r.Station, r.Parameter, r.At.Format(time.RFC3339), r.Kind, r.Averaging))
		}
		for i := range b.Rows() {
			r := b.Reading(i)
			checkReading(t, c, r)
			if !described[r.Station] {
				t.Errorf("station %q has readings in a batch that does not describe it", r.Station)
			}
			h.readings = append(h.readings, readingLine(r))
		}
		return nil
	}
}

// checkReading checks the fields that every reading has, with or without a value.
func checkReading(t *testing.T, c *Case, r air.Reading) {
	t.Helper()
	if reason := ingest.Check(&r, c.Now); reason != ingest.None {
		t.Errorf("the rules reject a reading (%s): %+v", reason, r)
	}
	if r.Source == "" {
		t.Errorf("a reading has no source: %+v", r)
	}
	if r.Averaging == 0 {
		t.Errorf("a reading has no averaging interval: %+v", r)
	}
	if r.Kind != air.Concentration && r.Kind != air.SubIndex {
		t.Errorf("a reading has the kind %v: %+v", r.Kind, r)
	}
}

func (h *fetched) readingText() string { return lines(h.readings) }

func (h *fetched) stationText() string {
	var all []string
	for _, line := range h.stations {
		all = append(all, line)
	}
	return lines(all)
}

func lines(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return strings.Join(slices.Sorted(slices.Values(all)), "\n") + "\n"
}

func readingLine(r air.Reading) string {
	return fmt.Sprintf("%s,%s,%s,%s,%s,%d,%s", r.Station, r.Parameter, r.At.Format(time.RFC3339),
		strconv.FormatFloat(r.Value, 'g', -1, 64), r.Kind, r.Averaging, r.Flag)
}

func stationLine(s *air.Station) string {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	return fmt.Sprintf("%s,%q,%s,%s,%s,%s,%s,%q,%s",
		s.ID, s.Name, s.City, s.State, number(s.Latitude), number(s.Longitude), s.Kind, s.Attribution, s.Licence)
}
