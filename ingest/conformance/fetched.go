package conformance

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/schema/air"
)

// Fetched has everything that a fetch yielded. Its texts are lines of the files of a test case, such as readings.csv.
type Fetched struct {
	Readings []string // lines of readings.csv
	Missing  []string // lines of missing.csv
	// Bulletins are lines of bulletins.csv.
	Bulletins []string
	Stations  map[string]string // lines of stations.csv by the id of the station
	Rejected  ingest.Rejections
	Values    []ingest.RejectedValue
	// Faults are violations of the contract of [ingest.Source], and of the rules of [ingest.Check].
	Faults  []string
	Batches int
}

// Fetch fetches a window and checks the batches. `now` is the present time of the source under test. The error is the
// error of the source.
func Fetch(ctx context.Context, src ingest.Source, w ingest.Window, now time.Time) (*Fetched, error) {
	f := &Fetched{Stations: make(map[string]string)}
	err := src.Fetch(ctx, w, func(b *ingest.Batch) error {
		defer b.Release()
		f.add(b, now)
		return nil
	})
	return f, err
}

func (f *Fetched) faultf(format string, args ...any) {
	f.Faults = append(f.Faults, fmt.Sprintf(format, args...))
}

func (f *Fetched) add(b *ingest.Batch, now time.Time) {
	f.Batches++
	if !b.Readings.Schema().Equal(air.ReadingColumns) {
		f.faultf("a batch has the columns %v, want %v", b.Readings.Schema(), air.ReadingColumns)
		return
	}
	f.Rejected.Merge(b.Rejected)
	f.Values = append(f.Values, b.Values...)
	described := make(map[string]bool)
	for i := range b.Stations {
		s := &b.Stations[i]
		described[s.ID] = true
		f.Stations[s.ID] = stationLine(s)
	}
	if len(b.Missing) > b.Rejected[ingest.MissingValue] {
		f.faultf("a batch has %d missing values, and counts %d", len(b.Missing), b.Rejected[ingest.MissingValue])
	}
	for _, r := range b.Missing {
		r.Value, _ = r.Parameter.Range() // any valid value, because a missing value has none
		f.check(r, now)
		f.Missing = append(f.Missing, fmt.Sprintf("%s,%s,%s,%s,%d", r.Station, r.Parameter, r.At.Format(time.RFC3339), r.Kind, r.Averaging))
	}
	for i := range b.Bulletins {
		if reason := ingest.CheckBulletin(&b.Bulletins[i], now); reason != ingest.None {
			f.faultf("the rules reject a bulletin (%s): %+v", reason, b.Bulletins[i])
		}
		f.Bulletins = append(f.Bulletins, bulletinLine(&b.Bulletins[i]))
	}
	for i := range b.Rows() {
		r := b.Reading(i)
		f.check(r, now)
		if !described[r.Station] {
			f.faultf("station %q has readings in a batch that does not describe it", r.Station)
		}
		f.Readings = append(f.Readings, readingLine(r))
	}
}

// check checks the fields that every reading has, with or without a value.
func (f *Fetched) check(r air.Reading, now time.Time) {
	if reason := ingest.Check(&r, now); reason != ingest.None {
		f.faultf("the rules reject a reading (%s): %+v", reason, r)
	}
	if r.Source == "" {
		f.faultf("a reading has no source: %+v", r)
	}
	if r.Averaging == 0 {
		f.faultf("a reading has no averaging interval: %+v", r)
	}
	if r.Kind != air.Concentration && r.Kind != air.SubIndex {
		f.faultf("a reading has the kind %v: %+v", r.Kind, r)
	}
}

// readingText returns the content of readings.csv.
func (f *Fetched) readingText() string { return lines(f.Readings) }

// stationText returns the content of stations.csv.
func (f *Fetched) stationText() string {
	var all []string
	for _, line := range f.Stations {
		all = append(all, line)
	}
	return lines(all)
}

// rejectedText returns the content of rejected.csv.
func (f *Fetched) rejectedText() string {
	var all []string
	for _, v := range f.Values {
		all = append(all, fmt.Sprintf("%d,%s,%s", v.Line, v.Reason, v.Field))
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

func bulletinLine(b *air.Bulletin) string {
	var prominent []string
	for _, p := range b.Prominent {
		prominent = append(prominent, p.ID())
	}
	return fmt.Sprintf("%s,%q,%s,%s,%d,%s,%s,%d,%d", b.Day, b.Name, b.City, b.State, b.AQI, b.Category, strings.Join(prominent, " "), b.StationsUsed, b.StationsTotal)
}
