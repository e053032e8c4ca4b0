package file

import (
	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// listing is a download of resource 3b01bcb8 of data.gov.in. Each row has the sub-index
// of one pollutant at one station.
type listing struct {
	station, city, state, latitude, longitude int
	stamp, pollutant, average                 int

	stations   stations
	clock      clock
	parameters parameters
}

func newListing(h header) (row, bool) {
	l := &listing{
		station: h.find("station"), city: h.find("city"), state: h.find("state"),
		latitude: h.find("latitude"), longitude: h.find("longitude"), stamp: h.find("last_update"),
		pollutant: h.find("pollutant_id"), average: h.find("pollutant_avg", "avg_value"), parameters: make(parameters),
	}
	return l, l.station >= 0 && l.stamp >= 0 && l.pollutant >= 0 && l.average >= 0
}

func (l *listing) read(cells [][]byte, b *ingest.Builder) error {
	name := cells[l.station]
	if !named(name) {
		b.Reject(ingest.NoStation)
		return nil
	}
	station := l.stations.find(name, len(at(cells, l.latitude)) > 0, b, func() schema.Station {
		lat, lon := position(at(cells, l.latitude), at(cells, l.longitude), b)
		return cpcbformat.Station(string(name), string(at(cells, l.city)), string(at(cells, l.state)), lat, lon)
	})
	stamp, _ := l.clock.parse(cells[l.stamp], cpcbformat.ParseUpdate)
	reading, reason := cpcbformat.SubIndex(l.parameters.parse(cells[l.pollutant]), stamp, string(cells[l.average]))
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
