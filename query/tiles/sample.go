package tiles

import (
	"slices"
	"time"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
)

// sample has the interpolated figures of a position.
type sample struct {
	aqi  int
	pm25 schema.Figure // hundredths of µg/m³; may be unknown
	km   float64       // distance to the nearest station that was used
}

// leaveOut interpolates the figures at the position of station i from the other stations. It returns false if station
// i is not of a default kind, or if its AQI is missing or stale at the time `now`. It also returns false if no other
// station within 100 km has a fresh AQI.
func leaveOut(s *snapshot.Snapshot, i int, now time.Time) (sample, bool) {
	st := &s.Stations[i]
	if st.AQI < 0 || st.Stale(now) || !s.Kinds.Has(st.Kind) {
		return sample{}, false
	}
	return interpolate(s, st.Point(), st, now)
}

// interpolate returns the figures of a position, from the stations of the default kinds. If `except` is not nil, it
// ignores this station under all of its ids. It computes as [snapshot.Snapshot.Interpolate], but fills no missing
// concentrations. It returns false if none of these stations within 100 km has a fresh AQI, or if the result is stale
// at the time `now`. A map does not show the age of a figure, so it must not show stale ones.
func interpolate(s *snapshot.Snapshot, p places.Point, except *snapshot.Station, now time.Time) (sample, bool) {
	newest := s.NewestAround(p, s.Kinds)
	if newest == 0 {
		return sample{}, false
	}
	around := func(km float64) []aggregate.Sample {
		return slices.DeleteFunc(s.Fresh(s.Around(p, km, s.Kinds), newest), func(sm aggregate.Sample) bool {
			return except != nil && sameStation(&s.Stations[sm.Station], except)
		})
	}
	near := around(snapshot.InterpolationReach)
	if len(near) == 0 {
		near = around(snapshot.NearestReach)
		near = near[:min(1, len(near))]
	}
	if len(near) == 0 {
		return sample{}, false
	}
	f, used := aggregate.WeightedMean(near)
	return sample{int(f.AQI), f.Concentrations[0], used[0].KM}, !f.Stale(now)
}

// sameStation reports whether a and b are two ids of one physical station.
func sameStation(a, b *snapshot.Station) bool {
	return a.ID == b.ID || a.SameAs == b.ID || b.SameAs == a.ID || a.SameAs != "" && a.SameAs == b.SameAs
}
