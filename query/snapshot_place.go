package query

import "vayu/query/places"

// neighboursOf returns a function that lists the stations near a city, nearest
// first.
func (s *Snapshot) neighboursOf(i int) func() []string {
	return func() []string { return s.stationIDs(s.around(s.cities[i].position, nearestReach, s.kinds)) }
}

// canonicalCity returns the city that a city's name resolves to. That is another
// one if the city's state is unknown and a city of the same name has a state.
func (s *Snapshot) canonicalCity(i int) int {
	c := s.cities[i].City
	if found, err := s.index.Find(c.Name + ", " + c.State); err == nil {
		return found
	}
	return i
}

// nearest returns the station nearest to a point among those that keep accepts, and
// its distance.
func (s *Snapshot) nearest(p places.Point, keep func(*station) bool) (found int32, km float64) {
	found = -1
	for i := range s.stations {
		st := &s.stations[i]
		if at := st.point(); at.Known() && keep(st) && (found < 0 || !places.Beyond(p, at, km)) {
			if d := places.Distance(p, at); found < 0 || d < km {
				found, km = int32(i), d
			}
		}
	}
	return found, km
}
