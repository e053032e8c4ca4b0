package file

import (
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/parameter"
)

// openaqResult is an entry of a page of OpenAQ's third version. Pages of the paths
// /sensors/{id}/measurements, /hours and /days have value, parameter and period.
// Pages of /locations/{id}/latest and /parameters/{id}/latest have value, datetime
// and sensorsId.
type openaqResult struct {
	Value     json.RawMessage  `json:"value"`
	Parameter *openaqParameter `json:"parameter"`
	Period    *struct {
		Interval string        `json:"interval"`
		From     openaqInstant `json:"datetimeFrom"`
		To       openaqInstant `json:"datetimeTo"`
	} `json:"period"`
	Summary *struct {
		Average json.RawMessage `json:"avg"`
	} `json:"summary"`
	Datetime *openaqInstant `json:"datetime"`
	Sensor   int64          `json:"sensorsId"`
}

type openaqInstant struct {
	UTC string `json:"utc"`
}

func (i openaqInstant) time() (time.Time, bool) { return zoned([]byte(i.UTC)) }

// openaqPage reads one page. No page has complete readings: pages of measurements
// lack sensor and location, pages of latest values lack parameter and unit. The
// rest is in saved replies of /v3/locations beside the file. A page of measurements
// is from the sensor whose number the file's name contains.
type openaqPage struct {
	places   openaqPlaces
	path     string
	sensor   int64 // for a page of measurements; 0 until it is found
	spacings spacings
	stations map[*openaqPlace]int
}

// openaq3 reports whether a head begins a page of OpenAQ's third version.
func (h *head) openaq3() bool {
	return h.begins("{") && h.holds(`"results"`) && h.holds(`"openaq-api"`)
}

// parseOpenAQ3 reads a saved page. Positions count its results.
func parseOpenAQ3(in *source, b *ingest.Builder) error {
	text, err := in.text()
	if err != nil {
		return err
	}
	defer text.Close()
	body, err := io.ReadAll(limited(text))
	if err != nil {
		return err
	}
	var page struct {
		Results []openaqResult `json:"results"`
	}
	if err := json.Unmarshal(body, &page); err != nil {
		return refuse("not a page of OpenAQ: %v", err)
	}
	p := &openaqPage{path: in.path, spacings: newSpacings(), stations: make(map[*openaqPlace]int)}
	if err := p.places.beside(in.path); err != nil {
		return err
	}
	for i := range page.Results {
		if r := &page.Results[i]; r.Period != nil {
			if at, ok := r.Period.To.time(); ok {
				p.spacings.note(nil, at)
			}
		}
	}
	for n := range page.Results {
		if int64(n) < in.start {
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

func (p *openaqPage) read(r *openaqResult, b *ingest.Builder) error {
	switch {
	case r.Period != nil && r.Parameter != nil:
		return p.measurement(r, b)
	case r.Datetime != nil && r.Sensor != 0:
		return p.latest(r, b)
	}
	return nil // a location or a sensor, not a reading
}

func (p *openaqPage) measurement(r *openaqResult, b *ingest.Builder) error {
	if p.sensor == 0 {
		if err := p.findSensor(); err != nil {
			return err
		}
	}
	end, okEnd := r.Period.To.time()
	begin, okBegin := r.Period.From.time()
	minutes, ok := length(end.Sub(begin))
	if !okEnd || !okBegin || !ok {
		b.Reject(ingest.BadTime)
		return nil
	}
	// OpenAQ labels quarter-hours as hours. The distance of their times is the true
	// interval.
	if d, ok := length(p.spacings.of(nil)); ok && d < minutes {
		minutes = d
	}
	value := r.Value
	if r.Summary != nil && len(r.Summary.Average) > 0 && string(r.Summary.Average) != "null" {
		value = r.Summary.Average // in hours and days, value is rounded to three digits
	}
	return p.add(p.places.sensors[p.sensor].place, *r.Parameter, value, end, minutes, b)
}

func (p *openaqPage) latest(r *openaqResult, b *ingest.Builder) error {
	s, known := p.places.sensors[r.Sensor]
	if !known {
		b.Reject(ingest.UnknownUnit)
		return nil
	}
	end, ok := r.Datetime.time()
	if !ok {
		b.Reject(ingest.BadTime)
		return nil
	}
	return p.add(s.place, s.parameter, r.Value, end, schema.Hourly, b)
}

func (p *openaqPage) add(place *openaqPlace, measured openaqParameter, value json.RawMessage, end time.Time, minutes uint16, b *ingest.Builder) error {
	what, known := parameter.Parse(measured.Name)
	switch {
	case place.abroad():
		b.Reject(ingest.OutsideIndia)
		return nil
	case !named([]byte(place.Name)):
		b.Reject(ingest.NoStation)
		return nil
	case !known:
		b.Reject(ingest.UnknownPollutant)
		return nil
	}
	station, ok := p.stations[place]
	if !ok {
		station = b.Station(place.describe(b))
		p.stations[place] = station
	}
	reading := schema.Reading{Parameter: what, At: end, Kind: schema.Concentration, Averaging: minutes}
	v, reason := ingest.ParseValueOf(what, string(scalar(value)))
	if reason == ingest.None {
		if reading.Value, ok = openaqValue(what, v, measured.Units); !ok {
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

// numbers matches the numbers in a file's name.
var numbers = regexp.MustCompile(`\d+`)

// findSensor finds the sensor of a page of measurements.
func (p *openaqPage) findSensor() error {
	base := filepath.Base(p.path)
	var found []int64
	for _, text := range numbers.FindAllString(base, -1) {
		id, err := strconv.ParseInt(text, 10, 64)
		if _, known := p.places.sensors[id]; err == nil && known && !slices.Contains(found, id) {
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
	return refuse("a page of measurements does not say which sensor it is from: put the saved reply of /v3/locations beside it "+
		"(its name begins with \"location\"), and the sensor's number into the file's name; "+why, base)
}
