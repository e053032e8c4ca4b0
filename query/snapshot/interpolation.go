package snapshot

import (
	"cmp"
	"slices"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/air"
)

// InterpolationReach is the distance in km within which stations are interpolated. If there are none, an answer uses
// the nearest station within NearestReach km. With 603 stations, the median distance of a place to one is 36.6 km.
const (
	InterpolationReach = 25.0
	NearestReach       = 100.0
)

// Around returns the stations of the given kinds within km kilometres of a point, nearest first.
func (s *Snapshot) Around(p places.Point, km float64, kinds aggregate.KindSet) []aggregate.Sample {
	if !p.Known() {
		return nil
	}
	var out []aggregate.Sample
	cells := s.grid.Cells()
	s.grid.Around(p, km, func(cell int32) {
		for _, i := range cells[cell] {
			st := &s.Stations[i]
			at := st.Point()
			if !kinds.Has(st.Kind) || places.Beyond(p, at, km) {
				continue
			}
			if d := places.Distance(p, at); d <= km {
				out = append(out, aggregate.Sample{Station: i, KM: d, Weight: places.Weight(d), Figures: &st.Figures})
			}
		}
	})
	slices.SortFunc(out, func(a, b aggregate.Sample) int {
		if d := cmp.Compare(a.KM, b.KM); d != 0 {
			return d
		}
		return cmp.Compare(a.Station, b.Station)
	})
	return out
}

// NewestAround returns the latest hour in which a station of the given kinds, within NearestReach of a point, has an
// AQI. It is the end of the hour in Unix seconds, or 0 if there is no such station or the point is unknown. It skips
// grid cells whose newest hour cannot change the result.
func (s *Snapshot) NewestAround(p places.Point, kinds aggregate.KindSet) uint32 {
	var newest uint32
	if !p.Known() {
		return 0
	}
	cells := s.grid.Cells()
	s.grid.Around(p, NearestReach, func(cell int32) {
		if s.newestHours.of(cell, kinds) <= newest {
			return
		}
		for _, i := range cells[cell] {
			st := &s.Stations[i]
			if st.AQI >= 0 && st.At > newest && kinds.Has(st.Kind) && places.Distance(p, st.Point()) <= NearestReach {
				newest = st.At
			}
		}
	})
	return newest
}

// Interpolate returns the figures of a position, and the stations from which they are computed. It considers stations
// of the given kinds that have an AQI, except those whose hour is more than 3 h older than the newest hour of such
// stations within 100 km. It uses the stations within 25 km, or if there are none, the nearest station within 100 km.
// [Snapshot.PreferStations] removes samples that would count twice.
//
// Missing concentrations are filled with those up to 24 h old, from any station of the given kinds within 100 km.
// Interpolate returns false if no station within 100 km has an AQI.
func (s *Snapshot) Interpolate(p places.Point, kinds aggregate.KindSet) (aggregate.Figures, []aggregate.Sample, bool) {
	newest := s.NewestAround(p, kinds)
	if newest == 0 {
		return aggregate.Figures{}, nil, false
	}
	near := s.Fresh(s.Around(p, InterpolationReach, kinds), newest)
	if len(near) == 0 {
		near = s.Fresh(s.Around(p, NearestReach, kinds), newest)[:1]
	}
	f, used := aggregate.WeightedMean(near)
	if f.Missing() == 0 {
		return f, used, true
	}
	for _, sm := range s.Around(p, NearestReach, kinds) {
		if f.Missing() == 0 {
			break
		}
		if amount, ok := s.lastMeasured(sm.Station, f.At); ok {
			f.FillFrom(amount)
		}
	}
	return f, used, true
}

// Fresh returns the samples with an AQI whose hour is at most [aggregate.InterpolationWindow] older than `newest` (Unix
// seconds). PreferStations then removes some of these samples. Fresh keeps the order and overwrites the slice.
func (s *Snapshot) Fresh(samples []aggregate.Sample, newest uint32) []aggregate.Sample {
	return s.PreferStations(slices.DeleteFunc(samples, func(sm aggregate.Sample) bool {
		return sm.Figures.AQI < 0 || sm.Figures.At+aggregate.InterpolationWindow < newest
	}))
}

// PreferStations removes samples that would count twice. It removes a series of city means if any station has an AQI.
// If a physical station has several ids, it keeps one of them.
func (s *Snapshot) PreferStations(samples []aggregate.Sample) []aggregate.Sample {
	mean := func(sm aggregate.Sample) bool { return s.Stations[sm.Station].Kind == air.CityMean }
	if slices.ContainsFunc(samples, func(sm aggregate.Sample) bool { return sm.Figures.AQI >= 0 && !mean(sm) }) {
		samples = slices.DeleteFunc(samples, mean)
	}
	return s.onePerStation(samples)
}

// onePerStation keeps one sample for each physical station, which may have several ids. It prefers
// an id with an AQI, then the network of highest priority, then the latest reading.
func (s *Snapshot) onePerStation(samples []aggregate.Sample) []aggregate.Sample {
	if !slices.ContainsFunc(samples, func(sm aggregate.Sample) bool { return s.Stations[sm.Station].SameAs != "" }) {
		return samples
	}
	physical := func(sm aggregate.Sample) string {
		st := &s.Stations[sm.Station]
		return cmp.Or(st.SameAs, st.ID)
	}
	rank := func(a, b aggregate.Sample) int {
		one, other := s.Stations[a.Station].ID, s.Stations[b.Station].ID
		return cmp.Or(
			cmp.Compare(min(a.Figures.AQI, 0), min(b.Figures.AQI, 0)),
			cmp.Compare(air.NetworkPriority(air.NetworkOf(one)), air.NetworkPriority(air.NetworkOf(other))),
			cmp.Compare(a.Figures.Updated, b.Figures.Updated),
			cmp.Compare(other, one))
	}
	best := make(map[string]aggregate.Sample, len(samples))
	for _, sm := range samples {
		if old, ok := best[physical(sm)]; !ok || rank(sm, old) > 0 {
			best[physical(sm)] = sm
		}
	}
	return slices.DeleteFunc(samples, func(sm aggregate.Sample) bool { return best[physical(sm)].Station != sm.Station })
}

// lastMeasured returns the concentrations of station i that may fill gaps at the time `at`: those in s.recent, or else
// those of the station's latest hour. If s.recent has none, and the latest hour is later or too old, it returns false.
func (s *Snapshot) lastMeasured(i int32, at uint32) (*[aggregate.Records]schema.Figure, bool) {
	if amount, ok := s.recent.At(i, at); ok {
		return amount, true
	}
	own := &s.Stations[i].Figures
	return &own.Concentrations, own.At <= at && own.At+gapfill.FillWindow > at
}

// Kilometres rounds a distance in km to 100 m, which is the precision of stations' positions.
func Kilometres(km float64) *schema.Figure {
	f := schema.Figure(aggregate.HalfUp(km*10) * 10)
	return &f
}

// NeighboursOf returns a function that finds the ids of the stations near city i, nearest first.
func (s *Snapshot) NeighboursOf(i int) func() []string {
	return func() []string { return s.StationIDs(s.Around(s.Cities[i].Position, NearestReach, s.Kinds)) }
}

// StationIDs returns the station id of each sample.
func (s *Snapshot) StationIDs(samples []aggregate.Sample) []string {
	ids := make([]string, len(samples))
	for i, sm := range samples {
		ids[i] = s.Stations[sm.Station].ID
	}
	return ids
}
