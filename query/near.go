package query

import (
	"cmp"
	"fmt"
	"slices"

	"vayu/query/places"
	"vayu/schema"
)

// Reach of stations around a pin code or position, in km (AIR.md: the nearest
// of 603 stations is a median 36.6 km away).
const (
	mixReach     = 25.0
	nearestReach = 100.0
)

// around returns the stations within km of a point, nearest first.
func (s *Snapshot) around(p places.Point, km float64) []sample {
	if !p.Known() {
		return nil
	}
	var out []sample
	for i := range s.stations {
		st := &s.stations[i]
		at := st.point()
		if !at.Known() || places.Beyond(p, at, km) {
			continue
		}
		if d := places.Distance(p, at); d <= km {
			out = append(out, sample{station: int32(i), km: d, weight: places.Weight(d), figures: &st.figures})
		}
	}
	slices.SortFunc(out, func(a, b sample) int { return cmp.Compare(a.km, b.km) })
	return out
}

// at answers for a position: the mix of the stations within 25 km, else the
// nearest one within 100 km. Stations that stopped a day or more before the
// newest around are passed over.
func (s *Snapshot) at(p places.Point) (figures, []sample, error) {
	all := s.around(p, nearestReach)
	reach := rated(slices.Clone(all))
	if len(reach) == 0 {
		return figures{}, nil, s.nobodyNear(p)
	}
	var newest uint32
	for _, sm := range reach {
		newest = max(newest, sm.figures.at)
	}
	near := slices.DeleteFunc(slices.Clone(reach), func(sm sample) bool { return sm.km > mixReach })
	if len(near) == 0 {
		for _, sm := range reach {
			if sm.figures.at+lendWindow > newest {
				near = []sample{sm}
				break
			}
		}
	}
	f, used := mix(near)
	for _, sm := range all {
		if f.missing() == 0 {
			break
		}
		if amount, ok := s.lastMeasured(sm.station, f.at); ok {
			f.borrow(amount)
		}
	}
	return f, used, nil
}

// lastMeasured returns what a station last measured in the 24 h before a
// moment, as far as the snapshot knows it.
func (s *Snapshot) lastMeasured(i int32, at uint32) (*[records]schema.Figure, bool) {
	if s.recent != nil && at <= s.recentAt && at+mixWindow >= s.recentAt {
		return &s.recent[i], true
	}
	own := &s.stations[i].figures
	return &own.amount, own.at <= at && own.at+lendWindow > at
}

func rated(samples []sample) []sample {
	return slices.DeleteFunc(samples, func(sm sample) bool { return sm.figures.aqi < 0 })
}

func (s *Snapshot) nobodyNear(p places.Point) error {
	nearest := -1.0
	for i := range s.stations {
		if at := s.stations[i].point(); at.Known() && s.stations[i].aqi >= 0 {
			if d := places.Distance(p, at); nearest < 0 || d < nearest {
				nearest = d
			}
		}
	}
	problem := schema.Refuse(schema.NoStationNearby, "", fmt.Sprintf("No station within %.0f km has current figures.", nearestReach))
	if nearest >= 0 {
		km := kilometres(nearest)
		problem.DistanceKM = km
		problem.Message += fmt.Sprintf(" The nearest is %.1f km away.", nearest)
	}
	return problem
}

// kilometres rounds a distance to the 100 m that positions are good for.
func kilometres(km float64) *schema.Figure {
	f := schema.Figure(halfUp(km*10) * 10)
	return &f
}
