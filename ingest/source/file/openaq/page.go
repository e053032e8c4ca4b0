package openaq

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// result is an entry of a page of version 3 of OpenAQ's API. Pages of the paths /sensors/{id}/measurements, /hours and
// /days have the fields `value`, `parameter` and `period`. Pages of /locations/{id}/latest and /parameters/{id}/latest
// have the fields `value`, `datetime` and `sensorsId`.
type result struct {
	Value     json.RawMessage `json:"value"`
	Parameter *quantity       `json:"parameter"`
	Period    *struct {
		Interval string  `json:"interval"`
		From     instant `json:"datetimeFrom"`
		To       instant `json:"datetimeTo"`
	} `json:"period"`
	Summary *struct {
		Average json.RawMessage `json:"avg"`
	} `json:"summary"`
	Datetime *instant `json:"datetime"`
	Sensor   int64    `json:"sensorsId"`
}

type instant struct {
	UTC string `json:"utc"`
}

func (i instant) time() (time.Time, bool) { return zoned([]byte(i.UTC)) }

// pageReader reads one page. A page alone is not enough for a reading. Pages of measurements lack the sensor and the
// location. Pages of latest values lack the parameter and the unit. pageReader takes the missing data from saved
// replies of /v3/locations beside the file. The name of a file with measurements must contain the number of the sensor.
type pageReader struct {
	locations locations
	path      string
	sensor    int64 // number of the sensor of a page of measurements; 0 before findSensor
	spacings  table.Spacings
	stations  map[*location]int
}

// ParsePage reads a saved page from the position in.Start. A position is an index in the list of results.
func ParsePage(in *table.Input, b *ingest.Builder) error {
	text, err := in.Text()
	if err != nil {
		return err
	}
	defer text.Close()
	body, err := io.ReadAll(table.Limit(text))
	if err != nil {
		return err
	}
	var page struct {
		Results []result `json:"results"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return ingest.BadReplyf("not a page of OpenAQ: %v", err)
	}
	p := &pageReader{path: in.Path, spacings: table.NewSpacings(), stations: make(map[*location]int)}
	if err := p.locations.beside(in.Path); err != nil {
		return err
	}
	for i := range page.Results {
		if r := &page.Results[i]; r.Period != nil {
			if at, ok := r.Period.To.time(); ok {
				p.spacings.Note(nil, at)
			}
		}
	}
	for n := range page.Results {
		if int64(n) < in.Start {
			continue
		}
		b.At(int64(n))
		if err := p.read(&page.Results[n], b); err != nil {
			return err
		}
	}
	b.At(int64(len(page.Results)))
	return nil
}

func (p *pageReader) read(r *result, b *ingest.Builder) error {
	switch {
	case r.Period != nil && r.Parameter != nil:
		return p.measurement(r, b)
	case r.Datetime != nil && r.Sensor != 0:
		return p.latest(r, b)
	}
	return nil // the result is a location or a sensor, not a reading
}

func (p *pageReader) measurement(r *result, b *ingest.Builder) error {
	if p.sensor == 0 {
		if err := p.findSensor(); err != nil {
			return err
		}
	}
	end, okEnd := r.Period.To.time()
	begin, okBegin := r.Period.From.time()
	minutes, ok := table.Minutes(end.Sub(begin))
	if !okEnd || !okBegin || !ok {
		b.Reject(ingest.BadTime)
		return nil
	}
	// OpenAQ labels some intervals of 15 minutes as hours. The usual time between two results is then the true length.
	if d, ok := table.Minutes(p.spacings.Of(nil)); ok && d < minutes {
		minutes = d
	}
	value := r.Value
	if r.Summary != nil && len(r.Summary.Average) > 0 && string(r.Summary.Average) != "null" {
		value = r.Summary.Average // pages of hours and days round the field value to three digits
	}
	return p.add(p.locations.sensors[p.sensor].location, *r.Parameter, value, end, minutes, b)
}

func (p *pageReader) latest(r *result, b *ingest.Builder) error {
	s, known := p.locations.sensors[r.Sensor]
	if !known {
		b.Reject(ingest.UnknownUnit)
		return nil
	}
	end, ok := r.Datetime.time()
	if !ok {
		b.Reject(ingest.BadTime)
		return nil
	}
	return p.add(s.location, s.parameter, r.Value, end, air.Hourly, b)
}

func (p *pageReader) add(at *location, measured quantity, value json.RawMessage, end time.Time, minutes uint16, b *ingest.Builder) error {
	what, known := parameter.Parse(measured.Name)
	switch {
	case at.abroad():
		b.Reject(ingest.OutsideIndia)
		return nil
	case !table.Named([]byte(at.Name)):
		b.Reject(ingest.NoStation)
		return nil
	case !known:
		b.Reject(ingest.UnknownPollutant)
		return nil
	}
	station, ok := p.stations[at]
	if !ok {
		station = b.Station(at.describe(b))
		p.stations[at] = station
	}
	reading := air.Reading{Parameter: what, At: end, Kind: air.Concentration, Averaging: minutes}
	v, reason := ingest.ParseValueOf(what, string(table.Scalar(value)))
	if reason == ingest.None {
		if reading.Value, ok = convert(what, v, measured.Units); !ok {
			reason = ingest.UnknownUnit
		}
	}
	switch reason {
	case ingest.None:
		return b.Add(station, reading)
	case ingest.MissingValue:
		b.Missing(station, reading)
	default:
		b.Reject(reason)
	}
	return nil
}

var numbers = regexp.MustCompile(`\d+`)

func (p *pageReader) findSensor() error {
	base := filepath.Base(p.path)
	var found []int64
	for _, text := range numbers.FindAllString(base, -1) {
		id, err := strconv.ParseInt(text, 10, 64)
		if _, known := p.locations.sensors[id]; err == nil && known && !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	if len(found) != 1 {
		return errSensor(base, len(found))
	}
	p.sensor = found[0]
	return nil
}

func errSensor(base string, found int) error {
	why := "none of the numbers in the file's name %q is a sensor of them"
	if found > 1 {
		why = "several numbers in the file's name %q are sensors of them"
	}
	return ingest.BadReplyf("a page of measurements does not say which sensor it is from: put the saved reply of /v3/locations beside it "+
		"(its name begins with \"location\"), and the sensor's number into the file's name; "+why, base)
}
