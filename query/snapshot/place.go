package snapshot

import "vayu/query/places"

// Nearest returns the nearest station to a point among those for which `keep` returns true, and its distance in km.
// The result `found` is an index in Stations; -1 if there is no such station.
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
