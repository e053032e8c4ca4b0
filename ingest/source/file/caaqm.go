package file

import (
	"maps"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/ingest/network"
	"vayu/schema"
)

// place is where a CAAQM table says which station a row is from.
type place struct {
	name, city, state int
	stations          stations
}

func newPlace(h header) place {
	return place{name: h.find("site_name", "station_name", "station name"), city: h.find("city"), state: h.find("state")}
}

func (s *place) number(cells [][]byte, b *ingest.Builder) (int, bool) {
	name := cells[s.name]
	if !named(name) {
		return 0, false
	}
	return s.stations.find(name, false, b, func() schema.Station {
		return network.Station(string(name), string(at(cells, s.city)), string(at(cells, s.state)), 0, 0)
	}), true
}

// spans is a CAAQM table of many stations that gives both ends of every row's
// interval. The end is the reading's time.
type spans struct {
	place    place
	interval interval
	columns  []column
}

func newSpans(h header) (row, bool) {
	t := &spans{newPlace(h), newInterval(h), h.columns()}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate >= 0 && len(t.columns) > 0
}

func (t *spans) read(cells [][]byte, b *ingest.Builder) error {
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

// starts is a CAAQM table that gives only the beginning of every row's
// interval. Its length is the distance at which the rows of the station most
// often follow one another, so the table is looked through first; a hole in the
// data then changes nothing.
type starts struct {
	place    place
	interval interval
	columns  []column
	spacings map[string]*spacing
	all      map[time.Duration]int
}

// spacing counts the distances of one station's rows.
type spacing struct {
	last   time.Time
	counts map[time.Duration]int
	length time.Duration // 0 until it is decided
}

func newStarts(h header) (row, bool) {
	t := &starts{
		place: newPlace(h), interval: newInterval(h), columns: h.columns(),
		spacings: make(map[string]*spacing), all: make(map[time.Duration]int),
	}
	return t, t.place.name >= 0 && t.interval.fromDate >= 0 && t.interval.toDate < 0 && len(t.columns) > 0
}

func (t *starts) survey(cells [][]byte) {
	from, ok := t.interval.begin(cells)
	if !ok || !named(cells[t.place.name]) {
		return
	}
	s := t.spacings[string(cells[t.place.name])]
	if s == nil {
		s = &spacing{counts: make(map[time.Duration]int)}
		t.spacings[string(cells[t.place.name])] = s
	} else if d := from.Sub(s.last); d > 0 && d <= time.Duration(schema.Daily)*time.Minute {
		s.counts[d]++
		t.all[d]++
	}
	s.last = from
}

// of returns the length of the intervals of a station, 0 when nothing tells it.
func (t *starts) of(station []byte) time.Duration {
	s := t.spacings[string(station)]
	if s == nil {
		return 0
	}
	if s.length == 0 {
		if s.length = commonest(s.counts); s.length == 0 {
			s.length = commonest(t.all)
		}
	}
	return s.length
}

// commonest returns the distance that was counted most, the shorter of two.
func commonest(counts map[time.Duration]int) time.Duration {
	var best time.Duration
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		if counts[d] > counts[best] {
			best = d
		}
	}
	return best
}

func (t *starts) read(cells [][]byte, b *ingest.Builder) error {
	station, ok := t.place.number(cells, b)
	if !ok {
		return refuseAll(t.columns, ingest.NoStation, b)
	}
	from, ok := t.interval.begin(cells)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	d := t.of(cells[t.place.name])
	minutes, ok := length(d)
	if !ok {
		return refuseAll(t.columns, ingest.BadTime, b)
	}
	return concentrations(t.columns, cells, station, from.Add(d), minutes, b)
}
