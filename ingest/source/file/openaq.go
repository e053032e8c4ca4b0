package file

import (
	"encoding/json"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// openaqLicence is the licence of OpenAQ's first two versions.
const openaqLicence = "CC BY 4.0"

// republished is a source name in exports of OpenAQ's second version. It copied
// sub-indices of data.gov.in into a column of µg/m³. In the sample all 216 values
// are whole numbers 0–500. CO was taken for mg/m³ and multiplied by 1,000: "28000"
// is the sub-index 28. The parser reverses this and reads sub-indices.
const republished = "data.gov.in"

// sensorSources are the sources of OpenAQ that are low-cost sensors.
var sensorSources = []string{"purpleair", "clarity", "airgradient", "habitatmap", "sensor.community", "luftdaten", "carnegiemellon"}

// openaq is an export of OpenAQ, one value a row, with the interval's end as time.
// The exports lack the interval. The Indian stations report hourly means, so the
// parser assumes 60 minutes.
type openaq struct {
	location, city, country, pollutant, value, unit int
	utc, local                                      int // version 1: the same instant twice
	updated                                         int // version 2: a time with its zone
	latitude, longitude, coordinates                int
	source, attribution                             int

	stations   stations
	clock      clock
	parameters parameters
}

func newOpenAQ(h header) *openaq {
	return &openaq{
		location: h.find("location"), city: h.find("city"), country: h.find("country", "country code"),
		pollutant: h.find("parameter", "pollutant"), value: h.find("value"), unit: h.find("unit"),
		utc: h.find("utc"), local: h.find("local"), updated: h.find("last updated"),
		latitude: h.find("latitude"), longitude: h.find("longitude"), coordinates: h.find("coordinates"),
		source: h.find("source name", "source_name", "sourcename"), attribution: h.find("attribution"), parameters: make(parameters),
	}
}

func newOpenAQ1(h header) (row, bool) {
	o := newOpenAQ(h)
	return o, o.complete() && o.utc >= 0
}

func newOpenAQ2(h header) (row, bool) {
	o := newOpenAQ(h)
	return o, o.complete() && o.utc < 0 && o.updated >= 0 && o.source >= 0
}

func (o *openaq) complete() bool {
	return o.location >= 0 && o.pollutant >= 0 && o.value >= 0 && o.unit >= 0
}

func (o *openaq) read(cells [][]byte, b *ingest.Builder) error {
	reading, reason := o.reading(cells)
	if reason != ingest.None && reason != ingest.MissingValue {
		b.Reject(reason)
		return nil
	}
	placed := len(at(cells, o.latitude)) > 0 || len(at(cells, o.coordinates)) > 0
	station := o.stations.find(cells[o.location], placed, b, func() schema.Station { return o.describe(cells, b) })
	if reason == ingest.MissingValue {
		b.Missing(station, reading)
		return nil
	}
	return b.Add(station, reading)
}

// reading returns the row's reading. If the reason is [ingest.MissingValue], the
// reading lacks only its value.
func (o *openaq) reading(cells [][]byte) (schema.Reading, ingest.Reason) {
	r := schema.Reading{Parameter: o.parameters.parse(cells[o.pollutant]), Kind: schema.Concentration, Averaging: schema.Hourly}
	country := at(cells, o.country)
	switch {
	case len(country) > 0 && string(country) != "IN":
		return r, ingest.OutsideIndia
	case !named(cells[o.location]):
		return r, ingest.NoStation
	case !r.Parameter.Valid():
		return r, ingest.UnknownPollutant
	}
	var ok bool
	if r.At, ok = o.time(cells); !ok {
		return r, ingest.BadTime
	}
	if string(at(cells, o.source)) == republished {
		r.Kind = schema.SubIndex
	}
	v, reason := ingest.ParseValueOf(r.Parameter, string(cells[o.value]))
	if reason != ingest.None {
		return r, reason
	}
	if r.Value, ok = r.Parameter.Convert(v, string(cells[o.unit])); !ok {
		return r, ingest.UnknownUnit
	}
	return r, ingest.None
}

// time parses the row's time, which is given in UTC and in local time. It rejects a row
// if the two differ, because one has the wrong zone.
func (o *openaq) time(cells [][]byte) (time.Time, bool) {
	if o.utc < 0 {
		return o.clock.parse(cells[o.updated], zoned)
	}
	end, ok := o.clock.parse(cells[o.utc], universal)
	if local := at(cells, o.local); ok && len(local) > 0 {
		same, zone := zoned(local)
		ok = zone && same.Equal(end)
	}
	return end, ok
}

// zoned parses a time that includes its zone.
func zoned(text []byte) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, string(text))
	return t.UTC(), err == nil
}

// universal parses a time of a column that is UTC by its name.
func universal(text []byte) (time.Time, bool) {
	if t, ok := zoned(text); ok {
		return t, true
	}
	t, err := time.Parse("2006-01-02T15:04:05", strings.Replace(string(text), " ", "T", 1))
	return t, err == nil
}

func (o *openaq) describe(cells [][]byte, b *ingest.Builder) schema.Station {
	latitude, longitude := at(cells, o.latitude), at(cells, o.longitude)
	if o.coordinates >= 0 {
		first, second, _ := strings.Cut(string(cells[o.coordinates]), ",")
		latitude, longitude = []byte(first), []byte(second)
	}
	lat, lon := position(latitude, longitude, b)
	name, city := string(cells[o.location]), string(at(cells, o.city))
	if _, _, ok := cpcbformat.Split(schema.CleanPlace(name)); ok {
		return cpcbformat.Station(name, city, "", lat, lon)
	}
	source := string(at(cells, o.source))
	s := schema.Station{
		ID: schema.StationID("openaq", name), Name: name, City: city, Latitude: lat, Longitude: lon,
		Kind: schema.Reference, Licence: openaqLicence, Attribution: credit(at(cells, o.attribution), source),
	}
	for _, sensor := range sensorSources {
		if strings.Contains(strings.ToLower(source), sensor) {
			s.Kind = schema.Sensor
		}
	}
	return s
}

// credit returns the attribution of a row: the names that it lists, and always
// OpenAQ.
func credit(attribution []byte, source string) string {
	var list []struct {
		Name string `json:"name"`
	}
	names := make([]string, 0, 2)
	if json.Unmarshal(attribution, &list) == nil {
		for _, entry := range list {
			if entry.Name != "" && len(entry.Name) < 200 {
				names = append(names, entry.Name)
			}
		}
	}
	if len(names) == 0 && source != "" {
		names = append(names, source)
	}
	return strings.Join(append(names, "OpenAQ"), "; ")
}
