package file

import (
	"bytes"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// archive is a file of OpenAQ's archive. It contains one day of a location, with one
// value in a row. The time is the interval's end with the location's offset, so the
// first hour of a day is 01:00. The interval's length is missing. It is the distance
// between a sensor's rows, at most an hour, because more is a gap. For a single row it
// is an hour. A saved reply of /v3/locations in the same folder gives the station's
// kind and licence (see [openaqPlaces.beside]).
type archive struct {
	location, sensor, name, stamp, latitude, longitude, parameter, unit, value int

	places     openaqPlaces
	met        map[string]*openaqPlace // locations of rows with a position, by number
	spacings   spacings
	stations   stations
	clock      clock
	parameters parameters
}

func newArchive(h header) (row, bool) {
	a := &archive{
		location: h.find("location_id"), sensor: h.find("sensors_id", "sensor_id"), name: h.find("location"),
		stamp: h.find("datetime"), latitude: h.find("lat"), longitude: h.find("lon"),
		parameter: h.find("parameter"), unit: h.find("units", "unit"), value: h.find("value"),
		met: make(map[string]*openaqPlace), spacings: newSpacings(), parameters: make(parameters),
	}
	return a, a.location >= 0 && a.sensor >= 0 && a.name >= 0 && a.stamp >= 0 && a.parameter >= 0 && a.unit >= 0 && a.value >= 0
}

func (a *archive) resolveStation(in *source) error { return a.places.beside(in.path) }

func (a *archive) prescan(cells [][]byte) {
	if at, ok := a.clock.parse(cells[a.stamp], zoned); ok {
		a.spacings.note(cells[a.sensor], at)
	}
}

func (a *archive) read(cells [][]byte, b *ingest.Builder) error {
	reading, reason := a.reading(cells)
	if reason != ingest.None && reason != ingest.MissingValue {
		b.Reject(reason)
		return nil
	}
	placed := len(at(cells, a.latitude)) > 0
	station := a.stations.find(cells[a.location], placed, b, func() schema.Station { return a.place(cells).describe(b) })
	if reason == ingest.MissingValue {
		b.Missing(station, reading)
		return nil
	}
	return b.Add(station, reading)
}

// reading returns the row's reading. If the reason is [ingest.MissingValue], the
// reading lacks only its value.
func (a *archive) reading(cells [][]byte) (schema.Reading, ingest.Reason) {
	r := schema.Reading{Parameter: a.parameters.parse(cells[a.parameter]), Kind: schema.Concentration}
	var ok bool
	if r.At, ok = a.clock.parse(cells[a.stamp], zoned); !ok {
		return r, ingest.BadTime
	}
	switch {
	case elsewhere(cells[a.stamp]) || a.place(cells).abroad():
		return r, ingest.OutsideIndia
	case !named(cells[a.location]) || !named(cells[a.name]):
		return r, ingest.NoStation
	case !r.Parameter.Valid():
		return r, ingest.UnknownPollutant
	}
	r.Averaging = atMostHourly(a.spacings.own(cells[a.sensor]))
	v, reason := ingest.ParseValueOf(r.Parameter, string(cells[a.value]))
	if reason != ingest.None {
		return r, reason
	}
	if r.Value, ok = openaqValue(r.Parameter, v, string(cells[a.unit])); !ok {
		return r, ingest.UnknownUnit
	}
	return r, ingest.None
}

// place returns the location of a row. If no saved reply has its number, it follows
// from the row. The archive appends the number to the name: "New Delhi-8118".
func (a *archive) place(cells [][]byte) *openaqPlace {
	if met, ok := a.met[string(cells[a.location])]; ok {
		return met
	}
	id, _ := strconv.ParseInt(string(cells[a.location]), 10, 64)
	if known, ok := a.places.places[id]; ok {
		return known
	}
	name := bytes.TrimSuffix(cells[a.name], append([]byte{'-'}, cells[a.location]...))
	p := &openaqPlace{ID: id, Name: string(name)}
	if lat, lon := at(cells, a.latitude), at(cells, a.longitude); len(lat) > 0 || len(lon) > 0 {
		p.Coordinates = &openaqPoint{cpcbformat.Scalar(lat), cpcbformat.Scalar(lon)}
		a.met[string(cells[a.location])] = p
	}
	return p
}

// elsewhere reports whether a time has the offset of another zone than India's. It
// is false for UTC, which shows no zone.
func elsewhere(stamp []byte) bool {
	return !bytes.HasSuffix(stamp, []byte("+05:30")) && !bytes.HasSuffix(stamp, []byte("Z")) && !bytes.HasSuffix(stamp, []byte("+00:00"))
}

// atMostHourly returns the averaging interval for a distance of rows.
func atMostHourly(d time.Duration) uint16 {
	if minutes, ok := length(d); ok && minutes < schema.Hourly {
		return minutes
	}
	return schema.Hourly
}
