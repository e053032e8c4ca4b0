package query

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
)

// station is a station with its latest hour.
type station struct {
	schema.Station
	city int32 // position in Snapshot.cities, -1 for none
	// cityHourUpdated is the end of the station's last reading in its city's
	// current hour, Unix seconds. It is 0 if figures is of that hour. cityHourAQI
	// is the station's AQI in that hour, -1 for none.
	cityHourUpdated uint32
	cityHourAQI     int16
	part            uint16 // bucket of the tables, see digest
	figures
}

func (s *station) point() places.Point {
	return places.Point{Latitude: s.Latitude, Longitude: s.Longitude}
}

// city is a city with its current hour.
type city struct {
	places.City
	figures
	position places.Point // mean of its located stations
	stations []int32
	// hours are the latest hours in the tables, in time order. Those after the hour
	// of the figures are not current yet, see [currentHour].
	hours []cityHour
}

// Snapshot holds one world's current figures and the answers made from them. It is
// immutable once published.
type Snapshot struct {
	built       time.Time
	kinds       kindSet // kinds that count by default
	grid        *places.Grid
	index       *places.Index
	cities      []city
	stations    []station
	byID        map[string]int32
	digests     digests
	newestHours newestHours
	recent      *recent            // at the newest hour of any city; nil until it is read
	current     []httpapi.Response // by city; a city without figures has no Body
	details     []atomic.Pointer[detailedAnswer]
	pins        sync.Map // int32 -> *pinAnswers; India has 19,000 pin codes
}

// snapshotInput holds the rows from which a snapshot is built.
type snapshotInput struct {
	stations []station
	cities   []city
	kinds    kindSet
	digests  digests
	changes  changes
}

// build makes a snapshot, such as that of a file, without gap filling.
func build(f snapshotInput, now time.Time, before *Snapshot) *Snapshot {
	s := assemble(f, nil, now)
	s.renderAnswers(before)
	return s
}

// assemble joins cities and stations, without answers. It leaves out cities without
// stations. Such a city lost its stations to another one, for example when their
// state became known. If no station was relocated, it shares the index and the grid
// with the previous snapshot.
func assemble(f snapshotInput, before *Snapshot, now time.Time) *Snapshot {
	s := &Snapshot{built: now, kinds: f.kinds, stations: f.stations, digests: f.digests}
	latest := make(map[places.City]city, len(f.cities))
	for _, c := range f.cities {
		latest[c.City] = c
	}
	if before != nil && f.changes.samePlaces {
		s.byID, s.index, s.grid = before.byID, before.index, before.grid
		s.newestHours = newNewestHours(s.grid.Cells(), s.stations)
		s.cities = slices.Clone(before.cities)
		for i := range s.cities {
			c := &s.cities[i]
			if last, ok := latest[c.City]; ok {
				c.figures, c.hours = last.figures, last.hours
			} else {
				c.figures, c.hours = noFigures(), nil
			}
		}
		return s
	}
	s.byID = make(map[string]int32, len(f.stations))
	s.grid = places.NewGrid(len(s.stations), func(i int) places.Point { return s.stations[i].point() })
	s.newestHours = newNewestHours(s.grid.Cells(), s.stations)
	where := make(map[places.City]int32, len(f.cities))
	for i := range s.stations {
		st := &s.stations[i]
		s.byID[st.ID] = int32(i)
		st.city = -1
		if st.City == "" {
			continue
		}
		key := places.City{Name: st.City, State: st.State}
		n, ok := where[key]
		if !ok {
			n = int32(len(s.cities))
			where[key] = n
			last, ok := latest[key]
			if !ok {
				last.figures = noFigures()
			}
			s.cities = append(s.cities, city{City: key, figures: last.figures, hours: last.hours})
		}
		st.city = n
		s.cities[n].stations = append(s.cities[n].stations, int32(i))
	}
	names := make([]places.City, len(s.cities))
	for i := range s.cities {
		s.cities[i].position = s.meanPosition(s.cities[i].stations)
		names[i] = s.cities[i].City
	}
	s.index = places.NewIndex(names)
	return s
}

// renderAnswers makes the answers. Those that equal the previous snapshot's keep
// their Last-Modified.
func (s *Snapshot) renderAnswers(before *Snapshot) {
	s.details = make([]atomic.Pointer[detailedAnswer], len(s.cities))
	s.current = make([]httpapi.Response, len(s.cities))
	for i := range s.cities {
		if s.cities[i].aqi < 0 {
			continue
		}
		record := s.cities[i].record(s.index.Label(i))
		s.current[i] = httpapi.Ready(append(record.Append(make([]byte, 0, 256)), '}'), s.built)
		s.current[i].Measured = int64(s.cities[i].updated)
		keepLastModified(&s.current[i], before, s.cities[i].City)
	}
}

// keepLastModified copies the Last-Modified of the previous answer if the answer is
// unchanged.
func keepLastModified(resp *httpapi.Response, before *Snapshot, name places.City) {
	if before == nil {
		return
	}
	i, err := before.index.Find(name.Name + ", " + name.State)
	if err != nil || before.index.City(i) != name {
		return
	}
	if old := before.current[i]; len(old.ETag) == 1 && old.ETag[0] == resp.ETag[0] {
		resp.Changed, resp.Modified = old.Changed, old.Modified
	}
}

func (s *Snapshot) meanPosition(stations []int32) places.Point {
	var sum places.Point
	n := 0.0
	for _, i := range stations {
		if p := s.stations[i].point(); p.Known() {
			sum.Latitude += p.Latitude
			sum.Longitude += p.Longitude
			n++
		}
	}
	if n == 0 {
		return places.Point{}
	}
	return places.Point{Latitude: sum.Latitude / n, Longitude: sum.Longitude / n}
}

// kindsFor returns the kinds that count in the answer to a query for these kinds.
func (s *Snapshot) kindsFor(kinds kindSet) kindSet {
	if kinds == 0 {
		return s.kinds
	}
	return kinds
}

// input returns the input of the snapshot, for building the next one. The caller
// must copy the stations before it changes them.
func (s *Snapshot) input() snapshotInput {
	if s == nil {
		return snapshotInput{}
	}
	f := snapshotInput{stations: s.stations, kinds: s.kinds, digests: s.digests, changes: changes{samePlaces: true}}
	for i := range s.cities {
		if s.cities[i].at > 0 {
			f.cities = append(f.cities, city{City: s.cities[i].City, figures: s.cities[i].figures, hours: s.cities[i].hours})
		}
	}
	return f
}

// newest returns the latest hour of any city, Unix seconds; 0 for none.
func (s *Snapshot) newest() uint32 {
	var at uint32
	for i := range s.cities {
		at = max(at, s.cities[i].at)
	}
	return at
}
