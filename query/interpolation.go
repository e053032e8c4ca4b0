package query

import (
	"cmp"
	"slices"

	"vayu/query/places"
	"vayu/schema"
)

// Reach around a pin code or position, in km. The median distance of a place to the
// nearest of 603 stations is 36.6 km.
const (
	interpolationReach = 25.0
	nearestReach       = 100.0
)

// around returns the stations of these kinds within km of a point, nearest first.
func (s *Snapshot) around(p places.Point, km float64, kinds kindSet) []sample {
	if !p.Known() {
		return nil
	}
	var out []sample
	cells := s.grid.Cells()
	s.grid.Around(p, km, func(cell int32) {
		for _, i := range cells[cell] {
			st := &s.stations[i]
			at := st.point()
			if !kinds.has(st.Kind) || places.Beyond(p, at, km) {
				continue
			}
			if d := places.Distance(p, at); d <= km {
				out = append(out, sample{station: i, km: d, weight: places.Weight(d), figures: &st.figures})
			}
		}
	})
	slices.SortFunc(out, func(a, b sample) int {
		if d := cmp.Compare(a.km, b.km); d != 0 {
			return d
		}
		return cmp.Compare(a.station, b.station)
	})
	return out
}

// newestAround returns the latest hour with an AQI of the stations of these kinds
// within reach of a point; 0 for none. It skips cells without a newer hour than the
// one found so far.
func (s *Snapshot) newestAround(p places.Point, kinds kindSet) uint32 {
	var newest uint32
	if !p.Known() {
		return 0
	}
	cells := s.grid.Cells()
	s.grid.Around(p, nearestReach, func(cell int32) {
		if s.newestHours.of(cell, kinds) <= newest {
			return
		}
		for _, i := range cells[cell] {
			st := &s.stations[i]
			if st.aqi >= 0 && st.at > newest && kinds.has(st.Kind) && places.Distance(p, st.point()) <= nearestReach {
				newest = st.at
			}
		}
	})
	return newest
}

// interpolate returns the figures of a position. It uses stations of these kinds
// that are at most 3 h older than the newest within 100 km. It interpolates those
// within 25 km, or takes the nearest. It returns false if no station within reach
// has an AQI.
func (s *Snapshot) interpolate(p places.Point, kinds kindSet) (figures, []sample, bool) {
	newest := s.newestAround(p, kinds)
	if newest == 0 {
		return figures{}, nil, false
	}
	near := s.fresh(s.around(p, interpolationReach, kinds), newest)
	if len(near) == 0 {
		near = s.fresh(s.around(p, nearestReach, kinds), newest)[:1]
	}
	f, used := weightedMean(near)
	if f.missing() == 0 {
		return f, used, true
	}
	for _, sm := range s.around(p, nearestReach, kinds) {
		if f.missing() == 0 {
			break
		}
		if amount, ok := s.lastMeasured(sm.station, f.at); ok {
			f.fillFrom(amount)
		}
	}
	return f, used, true
}

// fresh returns the samples that have an AQI and are at most 3 h older than newest.
func (s *Snapshot) fresh(samples []sample, newest uint32) []sample {
	return s.preferStations(slices.DeleteFunc(samples, func(sm sample) bool {
		return sm.figures.aqi < 0 || sm.figures.at+interpolationWindow < newest
	}))
}

// preferStations removes city mean series if a station with an AQI is present, and
// all but one id of a physical station.
func (s *Snapshot) preferStations(samples []sample) []sample {
	mean := func(sm sample) bool { return s.stations[sm.station].Kind == schema.CityMean }
	if slices.ContainsFunc(samples, func(sm sample) bool { return sm.figures.aqi >= 0 && !mean(sm) }) {
		samples = slices.DeleteFunc(samples, mean)
	}
	return s.onePerStation(samples)
}

// onePerStation keeps one id of each physical station. It prefers an id with an
// AQI, then the network of highest priority, then the latest hour.
func (s *Snapshot) onePerStation(samples []sample) []sample {
	if !slices.ContainsFunc(samples, func(sm sample) bool { return s.stations[sm.station].SameAs != "" }) {
		return samples
	}
	physical := func(sm sample) string {
		st := &s.stations[sm.station]
		return cmp.Or(st.SameAs, st.ID)
	}
	rank := func(a, b sample) int {
		one, other := s.stations[a.station].ID, s.stations[b.station].ID
		return cmp.Or(
			cmp.Compare(min(a.figures.aqi, 0), min(b.figures.aqi, 0)),
			cmp.Compare(schema.NetworkPriority(schema.NetworkOf(one)), schema.NetworkPriority(schema.NetworkOf(other))),
			cmp.Compare(a.figures.updated, b.figures.updated),
			cmp.Compare(other, one))
	}
	best := make(map[string]sample, len(samples))
	for _, sm := range samples {
		if old, ok := best[physical(sm)]; !ok || rank(sm, old) > 0 {
			best[physical(sm)] = sm
		}
	}
	return slices.DeleteFunc(samples, func(sm sample) bool { return best[physical(sm)].station != sm.station })
}

// lastMeasured returns the last amounts of a station in the 24 h before an instant.
// It returns false if the snapshot does not hold them.
func (s *Snapshot) lastMeasured(i int32, at uint32) (*[records]schema.Figure, bool) {
	if amount, ok := s.recent.of(i, at); ok {
		return amount, true
	}
	own := &s.stations[i].figures
	return &own.amount, own.at <= at && own.at+fillWindow > at
}

// kilometres rounds a distance to 100 m, the precision of positions.
func kilometres(km float64) *schema.Figure {
	f := schema.Figure(halfUp(km*10) * 10)
	return &f
}
