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

// station is one station with its latest hour.
type station struct {
	schema.Station
	city int32 // position in Snapshot.cities, -1 for none
	// cityHourUpdated is until when the station reported in its city's current hour, Unix
	// seconds, if its figures are of another hour; else 0. heardAQI is its AQI then,
	// -1 for none.
	cityHourUpdated uint32
	cityHourAQI     int16
	part            uint16 // cityDays the tables, see digest
	figures
}

func (s *station) point() places.Point {
	return places.Point{Latitude: s.Latitude, Longitude: s.Longitude}
}

// city is one city with its latest hour.
type city struct {
	places.City
	figures
	position places.Point // mean of its located stations
	stations []int32
	// hours are the last hours that the tables have, in order of time. Those behind
	// the one that the figures are of are not current yet: see [currentHour].
	hours []cityHour
}

// Snapshot is everything that is known about one world's air at one moment,
// with its answers ready. It never changes once it is published.
type Snapshot struct {
	built    time.Time
	kinds    kindSet // cityDays the stations that count by default
	grid     *grid
	index    *places.Index
	cities   []city
	stations []station
	byID     map[string]int32
	digests  digests
	// recent is what each station last measured until recentAt, the newest hour of
	// any city; nil until it is read.
	recent   []lastAmounts
	recentAt uint32
	current  []httpapi.Response // by city; no Body: no figures
	details  []atomic.Pointer[detailedAnswer]
	pins     sync.Map // int32 -> *pinAnswers; there are 19,000 pin codes in all
}

// input is what a snapshot is built from: what the tables say.
type snapshotInput struct {
	stations []station
	cities   []city
	kinds    kindSet
	digests  digests
	// What differs from the snapshot before. changed marks the stations of which an
	// hour at or after since may be another, which condition says in SQL; nil for none.
	// added are the ids of new ones. samePlaces: no station came, went or moved.
	changed    []bool
	since      uint32
	condition  string
	added      []string
	samePlaces bool
}

// build makes a snapshot of facts to which nothing is lent.
func build(f snapshotInput, now time.Time, before *Snapshot) *Snapshot {
	s := assemble(f, nil, now)
	s.renderAnswers(before)
	return s
}

// assemble joins cities and stations. The snapshot has no answers yet. A city
// without any station is left out: its figures are those of stations that turned
// out to belong elsewhere, as when their state became known. What follows from the
// places of stations is shared with the snapshot before when they are the same.
func assemble(f snapshotInput, before *Snapshot, now time.Time) *Snapshot {
	s := &Snapshot{built: now, kinds: f.kinds, stations: f.stations, digests: f.digests}
	latest := make(map[places.City]city, len(f.cities))
	for _, c := range f.cities {
		latest[c.City] = c
	}
	if before != nil && f.samePlaces {
		s.byID, s.index, s.grid = before.byID, before.index, before.grid.moved(s.stations)
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
	s.byID, s.grid = make(map[string]int32, len(f.stations)), newGrid(f.stations)
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

// renderAnswers makes the answers. Those that are the same as in the snapshot before
// save their time of change.
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

// keepLastModified keeps the Last-Modified of an answer that did not change.
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

// input returns what the snapshot was built from, for building the next, which must
// not change its stations but copies of them.
func (s *Snapshot) input() snapshotInput {
	if s == nil {
		return snapshotInput{}
	}
	f := snapshotInput{stations: s.stations, kinds: s.kinds, digests: s.digests, samePlaces: true}
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
