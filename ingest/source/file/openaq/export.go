// Package openaq parses saved data of OpenAQ: exports of versions 1 and 2 of its API, files of its archive, and pages
// of version 3.
package openaq

import (
	"encoding/json"
	"strings"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// licence is the licence of the data in versions 1 and 2 of OpenAQ's API.
const licence = "CC BY 4.0"

// republished is the name of a source in version 2 whose values are wrong. OpenAQ copied sub-indices of data.gov.in
// into a column of µg/m³. In a sample, all 216 values are whole numbers from 0 to 500. OpenAQ also took the sub-index
// of CO for mg/m³ and multiplied it by 1,000: "28000" is the sub-index 28. The parser reverses that factor, and
// reads all values as sub-indices.
const republished = "data.gov.in"

// sensorSources are parts of the names of OpenAQ's sources whose stations are low-cost sensors.
var sensorSources = []string{"purpleair", "clarity", "airgradient", "habitatmap", "sensor.community", "luftdaten", "carnegiemellon"}

// export is an export of OpenAQ with one value in each row. The time of a row is the end of its averaging interval. The
// export does not state the length of the interval. Stations in India report hourly means, so the parser assumes 60
// minutes.
type export struct {
	location, city, country, pollutant, value, unit int
	utc, local                                      int // in version 1: the same instant in UTC and in local time
	updated                                         int // in version 2: the column with the time and its zone
	latitude, longitude, coordinates                int
	source, attribution                             int

	stations   table.Stations
	clock      table.Clock
	parameters table.Parameters
}

func newExport(h table.Header) *export {
	return &export{
		location: h.Find("location"), city: h.Find("city"), country: h.Find("country", "country code"),
		pollutant: h.Find("parameter", "pollutant"), value: h.Find("value"), unit: h.Find("unit"),
		utc: h.Find("utc"), local: h.Find("local"), updated: h.Find("last updated"),
		latitude: h.Find("latitude"), longitude: h.Find("longitude"), coordinates: h.Find("coordinates"),
		source: h.Find("source name", "source_name", "sourcename"), attribution: h.Find("attribution"), parameters: make(table.Parameters),
	}
}

// NewVersion1 returns a parser of rows. It returns false if the header is not that of a version 1 export.
func NewVersion1(h table.Header) (table.Row, bool) {
	o := newExport(h)
	return o, o.complete() && o.utc >= 0
}

// NewVersion2 returns a parser of rows. It returns false if the header is not that of a version 2 export.
func NewVersion2(h table.Header) (table.Row, bool) {
	o := newExport(h)
	return o, o.complete() && o.utc < 0 && o.updated >= 0 && o.source >= 0
}

func (o *export) complete() bool {
	return o.location >= 0 && o.pollutant >= 0 && o.value >= 0 && o.unit >= 0
}

func (o *export) Read(cells [][]byte, b *ingest.Builder) error {
	reading, reason := o.reading(cells)
	if reason != ingest.None && reason != ingest.MissingValue {
		b.Reject(reason)
		return nil
	}
	placed := len(table.At(cells, o.latitude)) > 0 || len(table.At(cells, o.coordinates)) > 0
	station := o.stations.Find(cells[o.location], placed, b, func() air.Station { return o.describe(cells, b) })
	if reason == ingest.MissingValue {
		b.Missing(station, reading)
		return nil
	}
	return b.Add(station, reading)
}

// reading returns the reading in a row. If the reason is [ingest.MissingValue], the value is missing, and all else is
// valid.
func (o *export) reading(cells [][]byte) (air.Reading, ingest.Reason) {
	r := air.Reading{Parameter: o.parameters.Parse(string(cells[o.pollutant])), Kind: air.Concentration, Averaging: air.Hourly}
	country := table.At(cells, o.country)
	switch {
	case len(country) > 0 && string(country) != "IN":
		return r, ingest.OutsideIndia
	case !table.Named(cells[o.location]):
		return r, ingest.NoStation
	case !r.Parameter.Valid():
		return r, ingest.UnknownPollutant
	}
	var ok bool
	if r.At, ok = o.time(cells); !ok {
		return r, ingest.BadTime
	}
	if string(table.At(cells, o.source)) == republished {
		r.Kind = air.SubIndex
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

// time parses the time of a row. Version 1 states it in UTC and in local time. If these are different instants, one of
// them has a wrong zone, so the method returns false.
func (o *export) time(cells [][]byte) (time.Time, bool) {
	if o.utc < 0 {
		return o.clock.Parse(cells[o.updated], zoned)
	}
	end, ok := o.clock.Parse(cells[o.utc], universal)
	if local := table.At(cells, o.local); ok && len(local) > 0 {
		same, zone := zoned(local)
		ok = zone && same.Equal(end)
	}
	return end, ok
}

// zoned parses a time that states its zone.
func zoned(text []byte) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339, string(text))
	return t.UTC(), err == nil
}

// universal parses a time from the column utc. A time without a zone is UTC.
func universal(text []byte) (time.Time, bool) {
	if t, ok := zoned(text); ok {
		return t, true
	}
	t, err := time.Parse("2006-01-02T15:04:05", strings.Replace(string(text), " ", "T", 1))
	return t, err == nil
}

func (o *export) describe(cells [][]byte, b *ingest.Builder) air.Station {
	latitude, longitude := table.At(cells, o.latitude), table.At(cells, o.longitude)
	if o.coordinates >= 0 {
		first, second, _ := strings.Cut(string(cells[o.coordinates]), ",")
		latitude, longitude = []byte(first), []byte(second)
	}
	lat, lon := table.Position(latitude, longitude, b)
	name, city := string(cells[o.location]), string(table.At(cells, o.city))
	if _, _, ok := cpcbformat.Split(air.CleanPlace(name)); ok {
		return cpcbformat.Station(name, city, "", lat, lon)
	}
	source := string(table.At(cells, o.source))
	s := air.Station{
		ID: air.StationID("openaq", name), Name: name, City: city, Latitude: lat, Longitude: lon,
		Kind: air.Reference, Licence: licence, Attribution: credit(table.At(cells, o.attribution), source),
	}
	for _, sensor := range sensorSources {
		if strings.Contains(strings.ToLower(source), sensor) {
			s.Kind = air.Sensor
		}
	}
	return s
}

// credit returns the attribution of a row: the names in the column `attribution`, followed by OpenAQ. If the column has
// no names, the name of the source takes their place.
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
