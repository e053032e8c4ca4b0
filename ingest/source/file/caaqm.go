package file

import (
	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
)

// stationColumns are the columns that identify the station of a row in a CAAQM table.
type stationColumns struct {
	name, city, state int
	stations          table.Stations
}

func newStationColumns(h table.Header) stationColumns {
	return stationColumns{
		name: h.Find("site_name", "station_name", "station name"), city: h.Find("city"), state: h.Find("state"),
	}
}

func (s *stationColumns) number(cells [][]byte, b *ingest.Builder) (int, bool) {
	name := cells[s.name]
	if !table.Named(name) {
		return 0, false
	}
	return s.stations.Find(name, false, b, func() air.Station {
		return cpcbformat.Station(string(name), string(table.At(cells, s.city)), string(table.At(cells, s.state)), 0, 0)
	}), true
}

// intervalTable is a CAAQM table of many stations with both ends of every
// interval. The end is the reading's time.
type intervalTable struct {
	place    stationColumns
	interval interval
	columns  []table.Column
}

func newSpans(h table.Header) (table.Row, bool) {
	t := &intervalTable{newStationColumns(h), newInterval(h), h.Columns()}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate >= 0 && len(t.columns) > 0
}

func (t *intervalTable) Read(cells [][]byte, b *ingest.Builder) error {
	station, ok := t.place.number(cells, b)
	if !ok {
		return table.RefuseAll(t.columns, ingest.NoStation, b)
	}
	end, minutes, ok := t.interval.end(cells)
	if !ok {
		return table.RefuseAll(t.columns, ingest.BadTime, b)
	}
	return table.Concentrations(t.columns, cells, station, end, minutes, b)
}

// startTable is a CAAQM table with only the beginning of every interval. A first pass
// over the table finds the length of the intervals (see [table.Spacings]).
type startTable struct {
	place    stationColumns
	interval interval
	columns  []table.Column
	spacings table.Spacings
}

func newStarts(h table.Header) (table.Row, bool) {
	t := &startTable{place: newStationColumns(h), interval: newInterval(h), columns: h.Columns(), spacings: table.NewSpacings()}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate < 0 && len(t.columns) > 0
}

func (t *startTable) Prescan(cells [][]byte) {
	if from, ok := t.interval.begin(cells); ok && table.Named(cells[t.place.name]) {
		t.spacings.Note(cells[t.place.name], from)
	}
}

func (t *startTable) Read(cells [][]byte, b *ingest.Builder) error {
	station, ok := t.place.number(cells, b)
	if !ok {
		return table.RefuseAll(t.columns, ingest.NoStation, b)
	}
	from, ok := t.interval.begin(cells)
	if !ok {
		return table.RefuseAll(t.columns, ingest.BadTime, b)
	}
	d := t.spacings.Of(cells[t.place.name])
	minutes, ok := table.Minutes(d)
	if !ok {
		return table.RefuseAll(t.columns, ingest.BadTime, b)
	}
	return table.Concentrations(t.columns, cells, station, from.Add(d), minutes, b)
}
