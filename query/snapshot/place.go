package snapshot

import "vayu/query/places"

// NeighboursOf returns a function that returns the ids of the stations near city i, nearest first.
func (s *Snapshot) NeighboursOf(i int) func() []string {
	return func() []string { return s.StationIDs(s.Around(s.Cities[i].Position, NearestReach, s.Kinds)) }
}

// Nearest returns the station nearest to a point among those that keep accepts, and its distance. found is -1 if there
// is none.
func (s *Snapshot) Nearest(p places.Point, keep func(*Station) bool) (found int32, km float64) {
	found = -1
	for i := range s.Stations {
		st := &s.Stations[i]
		if at := st.Point(); at.Known() && keep(st) && (found < 0 || !places.Beyond(p, at, km)) {
			if d := places.Distance(p, at); found < 0 || d < km {
				found, km = int32(i), d
			}
		}
	}
	return found, km
}
