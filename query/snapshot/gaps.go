package snapshot

import (
	"context"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
)

// fillCityGaps fills the gaps in the figures of cities whose current hour is at or after the time `since`. It runs one
// SQL query for each hour.
func (t loader) fillCityGaps(ctx context.Context, s *Snapshot, since uint32) error {
	type group struct {
		ids    []string
		known  map[string]bool
		cities []int
		near   [][]string
	}
	groups := map[uint32]*group{}
	for i := range s.Cities {
		c := &s.Cities[i]
		if c.AQI < 0 || c.At < since || !c.Position.Known() {
			continue
		}
		if c.ClearFilled(); c.Missing() == 0 {
			continue
		}
		g := groups[c.At]
		if g == nil {
			g = &group{known: map[string]bool{}}
			groups[c.At] = g
		}
		near := s.StationIDs(s.Around(c.Position, NearestReach, s.Kinds))
		g.cities, g.near = append(g.cities, i), append(g.near, near)
		for _, id := range near {
			if !g.known[id] {
				g.known[id] = true
				g.ids = append(g.ids, id)
			}
		}
	}
	for at, g := range groups {
		if len(g.ids) == 0 {
			continue
		}
		got, err := gapfill.Read(ctx, t.Tables, g.ids, []uint32{at})
		if err != nil {
			return err
		}
		for n, i := range g.cities {
			for _, id := range g.near[n] {
				if last, ok := got[id]; ok {
					s.Cities[i].FillFrom(&last[0].Concentrations)
				}
			}
		}
	}
	return nil
}

// readRecent reads the recent concentrations of all stations into s.recent. Gap filling uses them.
func (t loader) readRecent(ctx context.Context, s, before *Snapshot, c *aggregate.Changes) (err error) {
	at := s.Newest()
	if at == 0 || len(s.Stations) == 0 {
		return nil
	}
	ids := make([]string, len(s.Stations))
	for i := range s.Stations {
		ids[i] = s.Stations[i].ID
	}
	var old *gapfill.Recent
	if before != nil {
		old = before.recent
	}
	s.recent, err = gapfill.ReadRecent(ctx, t.Tables, old, at, ids, c)
	return err
}
