// Package snapshot builds the current answers of a world (live or sandbox) from its aggregates after
// each roll-up, and keeps them in memory.
package snapshot

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/places"
	"vayu/schema/air"
)

// Station is a station with the figures of its latest hour.
type Station struct {
	air.Station
	InCity int32 // position in Snapshot.Cities, -1 for none
	// cityHourUpdated is the end of the station's last reading in the current hour of its city, in Unix seconds. It
	// is 0 if the embedded Figures are of that hour, or if no such reading is known. cityHourAQI is the station's AQI
	// in that hour; -1 for none.
	cityHourUpdated uint32
	cityHourAQI     int16
	part            uint16 // bucket of the station, see aggregate.Digest
	aggregate.Figures
}

// Point returns the station's position.
func (s *Station) Point() places.Point {
	return places.Point{Latitude: s.Latitude, Longitude: s.Longitude}
}

// city is a city with the figures of its current hour.
type city struct {
	places.City
	aggregate.Figures
	Position places.Point // mean of its located stations
	Stations []int32
	// hours are the latest hours of the city in the tables, in time order. Hours after the hour of the city's figures
	// are not current yet (see [aggregate.CurrentHour]).
	hours []aggregate.CityHour
}

// Snapshot has the current figures of one world, and the answers that are built from them. It is immutable once
// published.
type Snapshot struct {
	Built       time.Time
	Kinds       aggregate.KindSet // kinds of stations that count by default
	grid        *places.Grid
	Index       *places.Index
	Cities      []city
	Stations    []Station
	ByID        map[string]int32
	digests     aggregate.Digests
	newestHours newestHours
	recent      *gapfill.Recent    // as of the newest hour of any city; nil until it is read
	Current     []httpapi.Response // by city; a city without figures has no Body
	details     []atomic.Pointer[detailedAnswer]
	pins        sync.Map // int32 -> *pinAnswers; India has 19,000 pin codes
}

// snapshotInput has the rows from which a snapshot is built.
type snapshotInput struct {
	stations []Station
	cities   []city
	kinds    aggregate.KindSet
	digests  aggregate.Digests
	changes  aggregate.Changes
	// unchanged means that the tables have the same rows as when the previous snapshot was built.
	unchanged bool
}

// assemble builds a snapshot of cities and stations, without answers. It omits cities without stations. Such a city
// has lost its stations to another city, for example because their state became known. If no station was added,
// removed or relocated, the snapshot shares the index and the grid of the previous one.
func assemble(f snapshotInput, before *Snapshot, now time.Time) *Snapshot {
	s := &Snapshot{Built: now, Kinds: f.kinds, Stations: f.stations, digests: f.digests}
	latest := make(map[places.City]city, len(f.cities))
	for _, c := range f.cities {
		latest[c.City] = c
	}
	if before != nil && f.changes.SamePlaces {
		s.ByID, s.Index, s.grid = before.ByID, before.Index, before.grid
		s.newestHours = newNewestHours(s.grid.Cells(), s.Stations)
		s.Cities = slices.Clone(before.Cities)
		for i := range s.Cities {
			c := &s.Cities[i]
			if last, ok := latest[c.City]; ok {
				c.Figures, c.hours = last.Figures, last.hours
			} else {
				c.Figures, c.hours = aggregate.NoFigures(), nil
			}
		}
		return s
	}
	s.ByID = make(map[string]int32, len(f.stations))
	s.grid = places.NewGrid(len(s.Stations), func(i int) places.Point { return s.Stations[i].Point() })
	s.newestHours = newNewestHours(s.grid.Cells(), s.Stations)
	where := make(map[places.City]int32, len(f.cities))
	for i := range s.Stations {
		st := &s.Stations[i]
		s.ByID[st.ID] = int32(i)
		st.InCity = -1
		if st.City == "" {
			continue
		}
		key := places.City{Name: st.City, State: st.State}
		n, ok := where[key]
		if !ok {
			n = int32(len(s.Cities))
			where[key] = n
			last, ok := latest[key]
			if !ok {
				last.Figures = aggregate.NoFigures()
			}
			s.Cities = append(s.Cities, city{City: key, Figures: last.Figures, hours: last.hours})
		}
		st.InCity = n
		s.Cities[n].Stations = append(s.Cities[n].Stations, int32(i))
	}
	names := make([]places.City, len(s.Cities))
	for i := range s.Cities {
		s.Cities[i].Position = s.meanPosition(s.Cities[i].Stations)
		names[i] = s.Cities[i].City
	}
	s.Index = places.NewIndex(names)
	return s
}

func (s *Snapshot) meanPosition(stations []int32) places.Point {
	var sum places.Point
	n := 0.0
	for _, i := range stations {
		if p := s.Stations[i].Point(); p.Known() {
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

// KindsFor returns the kinds of stations that count in the answer to a query with the given kinds. If kinds is 0, it
// returns the default kinds.
func (s *Snapshot) KindsFor(kinds aggregate.KindSet) aggregate.KindSet {
	if kinds == 0 {
		return s.Kinds
	}
	return kinds
}

// input returns the rows of the snapshot, from which the next snapshot is built. The caller must copy the stations
// before it changes them.
func (s *Snapshot) input() snapshotInput {
	if s == nil {
		return snapshotInput{}
	}
	f := snapshotInput{stations: s.Stations, kinds: s.Kinds, digests: s.digests, changes: aggregate.Changes{SamePlaces: true}}
	for i := range s.Cities {
		if s.Cities[i].At > 0 {
			f.cities = append(f.cities, city{City: s.Cities[i].City, Figures: s.Cities[i].Figures, hours: s.Cities[i].hours})
		}
	}
	return f
}

// Newest returns the latest current hour of any city, as its end in Unix seconds; 0 if there is none.
func (s *Snapshot) Newest() uint32 {
	var at uint32
	for i := range s.Cities {
		at = max(at, s.Cities[i].At)
	}
	return at
}

// promoted returns the newest hour of any city that ended at least [aggregate.HourWait] before the time of the
// snapshot. Such an hour is current however few stations it has. The result is in Unix seconds; 0 for none.
func (s *Snapshot) promoted() (newest uint32) {
	last := s.Built.Add(-aggregate.HourWait).Unix()
	for i := range s.Cities {
		for _, h := range s.Cities[i].hours {
			if int64(h.At) <= last {
				newest = max(newest, h.At)
			}
		}
	}
	return newest
}
