package file

import (
	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// listing is a download of resource 3b01bcb8 of data.gov.in. Each row has the sub-index
// of one pollutant at one station.
type listing struct {
	station, city, state, latitude, longitude int
	stamp, pollutant, average                 int

	stations   table.Stations
	clock      table.Clock
	parameters table.Parameters
}

func newListing(h table.Header) (table.Row, bool) {
	l := &listing{
		station: h.Find("station"), city: h.Find("city"), state: h.Find("state"),
		latitude: h.Find("latitude"), longitude: h.Find("longitude"), stamp: h.Find("last_update"),
		pollutant: h.Find("pollutant_id"), average: h.Find("pollutant_avg", "avg_value"), parameters: make(table.Parameters),
	}
	return l, l.station >= 0 && l.stamp >= 0 && l.pollutant >= 0 && l.average >= 0
}

func (l *listing) Read(cells [][]byte, b *ingest.Builder) error {
	name := cells[l.station]
	if !table.Named(name) {
		b.Reject(ingest.NoStation)
		return nil
	}
	station := l.stations.Find(name, len(table.At(cells, l.latitude)) > 0, b, func() air.Station {
		lat, lon := table.Position(table.At(cells, l.latitude), table.At(cells, l.longitude), b)
		return cpcbformat.Station(string(name), string(table.At(cells, l.city)), string(table.At(cells, l.state)), lat, lon)
	})
	stamp, _ := l.clock.Parse(cells[l.stamp], cpcbformat.ParseUpdate)
	reading, reason := cpcbformat.SubIndex(l.parameters.Parse(cells[l.pollutant]), stamp, string(cells[l.average]))
	switch reason {
	case ingest.None:
		return b.Add(station, reading)
	case ingest.MissingValue:
		b.Missing(station, reading)
	default:
		b.RejectField(reason, string(cells[l.pollutant]))
	}
	return nil
}
