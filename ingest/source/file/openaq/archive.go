package openaq

import (
	"bytes"
	"strconv"
	"time"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// archive is a file of OpenAQ's archive. It contains one day of a location, with one
// value in a row. The time is the interval's end with the location's offset, so the
// first hour of a day is 01:00. The file lacks the interval's length. The parser uses
// the time between a sensor's rows, at most an hour, because a longer time is a gap. For
// a single row it uses an hour. A saved reply of /v3/locations in the same folder gives
// the station's kind and licence (see [locations.beside]).
type archive struct {
	location, sensor, name, stamp, latitude, longitude, parameter, unit, value int

	locations  locations
	met        map[string]*location // locations of rows with a position, by number
	spacings   table.Spacings
	stations   table.Stations
	clock      table.Clock
	parameters table.Parameters
}

// NewArchive recognises a file of the archive.
func NewArchive(h table.Header) (table.Row, bool) {
	a := &archive{
		location: h.Find("location_id"), sensor: h.Find("sensors_id", "sensor_id"), name: h.Find("location"),
		stamp: h.Find("datetime"), latitude: h.Find("lat"), longitude: h.Find("lon"),
		parameter: h.Find("parameter"), unit: h.Find("units", "unit"), value: h.Find("value"),
		met: make(map[string]*location), spacings: table.NewSpacings(), parameters: make(table.Parameters),
	}
	return a, a.location >= 0 && a.sensor >= 0 && a.name >= 0 && a.stamp >= 0 && a.parameter >= 0 && a.unit >= 0 && a.value >= 0
}

func (a *archive) ResolveStation(in *table.Input) error { return a.locations.beside(in.Path) }

func (a *archive) Prescan(cells [][]byte) {
	if at, ok := a.clock.Parse(cells[a.stamp], zoned); ok {
		a.spacings.Note(cells[a.sensor], at)
	}
}

func (a *archive) Read(cells [][]byte, b *ingest.Builder) error {
	reading, reason := a.reading(cells)
	if reason != ingest.None && reason != ingest.MissingValue {
		b.Reject(reason)
		return nil
	}
	placed := len(table.At(cells, a.latitude)) > 0
	station := a.stations.Find(cells[a.location], placed, b, func() air.Station { return a.locationOf(cells).describe(b) })
	if reason == ingest.MissingValue {
		b.Missing(station, reading)
		return nil
	}
	return b.Add(station, reading)
}

// reading returns the row's reading. If the reason is [ingest.MissingValue], the
// reading lacks only its value.
func (a *archive) reading(cells [][]byte) (air.Reading, ingest.Reason) {
	r := air.Reading{Parameter: a.parameters.Parse(cells[a.parameter]), Kind: air.Concentration}
	var ok bool
	if r.At, ok = a.clock.Parse(cells[a.stamp], zoned); !ok {
		return r, ingest.BadTime
	}
	switch {
	case elsewhere(cells[a.stamp]) || a.locationOf(cells).abroad():
		return r, ingest.OutsideIndia
	case !table.Named(cells[a.location]) || !table.Named(cells[a.name]):
		return r, ingest.NoStation
	case !r.Parameter.Valid():
		return r, ingest.UnknownPollutant
	}
	r.Averaging = atMostHourly(a.spacings.Own(cells[a.sensor]))
	v, reason := ingest.ParseValueOf(r.Parameter, string(cells[a.value]))
	if reason != ingest.None {
		return r, reason
	}
	if r.Value, ok = convert(r.Parameter, v, string(cells[a.unit])); !ok {
		return r, ingest.UnknownUnit
	}
	return r, ingest.None
}

// locationOf returns the location of a row. If no saved reply has the location's number,
// locationOf makes it from the row. The archive appends the number to the name: "New Delhi-8118".
func (a *archive) locationOf(cells [][]byte) *location {
	if met, ok := a.met[string(cells[a.location])]; ok {
		return met
	}
	id, _ := strconv.ParseInt(string(cells[a.location]), 10, 64)
	if known, ok := a.locations.byID[id]; ok {
		return known
	}
	name := bytes.TrimSuffix(cells[a.name], append([]byte{'-'}, cells[a.location]...))
	p := &location{ID: id, Name: string(name)}
	if lat, lon := table.At(cells, a.latitude), table.At(cells, a.longitude); len(lat) > 0 || len(lon) > 0 {
		p.Coordinates = &point{cpcbformat.Scalar(lat), cpcbformat.Scalar(lon)}
		a.met[string(cells[a.location])] = p
	}
	return p
}

// elsewhere reports whether a time has the offset of another zone than India's. It
// returns false for UTC, which does not identify a country.
func elsewhere(stamp []byte) bool {
	return !bytes.HasSuffix(stamp, []byte("+05:30")) && !bytes.HasSuffix(stamp, []byte("Z")) && !bytes.HasSuffix(stamp, []byte("+00:00"))
}

// atMostHourly returns the averaging interval in minutes for a time between two rows.
func atMostHourly(d time.Duration) uint16 {
	if minutes, ok := table.Minutes(d); ok && minutes < air.Hourly {
		return minutes
	}
	return air.Hourly
}
