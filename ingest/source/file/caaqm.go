package file

import (
	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// stationColumns are the columns of a CAAQM table that identify a row's station.
type stationColumns struct {
	name, city, state int
	stations          stations
}

func newStationColumns(h header) stationColumns {
	return stationColumns{
		name: h.find("site_name", "station_name", "station name"), city: h.find("city"), state: h.find("state"),
	}
}

func (s *stationColumns) number(cells [][]byte, b *ingest.Builder) (int, bool) {
	name := cells[s.name]
	if !named(name) {
		return 0, false
	}
	return s.stations.find(name, false, b, func() schema.Station {
		return cpcbformat.Station(string(name), string(at(cells, s.city)), string(at(cells, s.state)), 0, 0)
	}), true
}

// intervalTable is a CAAQM table of many stations with both ends of every
// interval. The end is the reading's time.
type intervalTable struct {
	place    stationColumns
	interval interval
	columns  []column
}

func newSpans(h header) (row, bool) {
	t := &intervalTable{newStationColumns(h), newInterval(h), h.columns()}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate >= 0 && len(t.columns) > 0
}

func (t *intervalTable) read(cells [][]byte, b *ingest.Builder) error {
	station, ok := t.place.number(cells, b)
	if !ok {
		return refuseAll(t.columns, ingest.NoStation, b)
	}
	end, minutes, ok := t.interval.end(cells)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	return concentrations(t.columns, cells, station, end, minutes, b)
}

// startTable is a CAAQM table with only the beginning of every interval. A first
// reading of the table finds the length of the intervals (see [spacings]).
type startTable struct {
	place    stationColumns
	interval interval
	columns  []column
	spacings spacings
}

func newStarts(h header) (row, bool) {
	t := &startTable{place: newStationColumns(h), interval: newInterval(h), columns: h.columns(), spacings: newSpacings()}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate < 0 && len(t.columns) > 0
}

func (t *startTable) prescan(cells [][]byte) {
	if from, ok := t.interval.begin(cells); ok && named(cells[t.place.name]) {
		t.spacings.note(cells[t.place.name], from)
	}
}

func (t *startTable) read(cells [][]byte, b *ingest.Builder) error {
	station, ok := t.place.number(cells, b)
	if !ok {
		return refuseAll(t.columns, ingest.NoStation, b)
	}
	from, ok := t.interval.begin(cells)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	d := t.spacings.of(cells[t.place.name])
	minutes, ok := length(d)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	return concentrations(t.columns, cells, station, from.Add(d), minutes, b)
}
