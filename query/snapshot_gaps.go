package query

import (
	"context"
	"fmt"
	"strings"
)

// fillCityGaps fills the gaps of cities whose hour is at or after since, with one
// SQL query per hour.
func (t loader) fillCityGaps(ctx context.Context, s *Snapshot, since uint32) error {
	type group struct {
		ids    []string
		known  map[string]bool
		cities []int
		near   [][]string
	}
	groups := map[uint32]*group{}
	for i := range s.cities {
		c := &s.cities[i]
		if c.aqi < 0 || c.at < since || !c.position.Known() {
			continue
		}
		if c.clearFilled(); c.missing() == 0 {
			continue
		}
		g := groups[c.at]
		if g == nil {
			g = &group{known: map[string]bool{}}
			groups[c.at] = g
		}
		near := s.stationIDs(s.around(c.position, nearestReach, s.kinds))
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
		got, err := readLastAmounts(ctx, t.tables, g.ids, []uint32{at})
		if err != nil {
			return err
		}
		for n, i := range g.cities {
			for _, id := range g.near[n] {
				if last, ok := got[id]; ok {
					s.cities[i].fillFrom(&last[0].amount)
				}
			}
		}
	}
	return nil
}

// readRecent sets Snapshot.recent.
func (t loader) readRecent(ctx context.Context, s, before *Snapshot, c *changes) (err error) {
	at := s.newest()
	if at == 0 || len(s.stations) == 0 {
		return nil
	}
	ids := make([]string, len(s.stations))
	for i := range s.stations {
		ids[i] = s.stations[i].ID
	}
	var old *recent
	if before != nil {
		old = before.recent
	}
	s.recent, err = readRecent(ctx, t.tables, old, at, ids, c)
	return err
}

// readCityHourReports reads which stations reported in their city's current hour
// although their own latest hour differs, and their AQI then. It reads only
// stations for which that may have changed since the previous snapshot.
func (t loader) readCityHourReports(ctx context.Context, s, before *Snapshot, c *changes) error {
	var ids, hours []string
	same := before != nil && c.samePlaces
	for i := range s.stations {
		st := &s.stations[i]
		if same && (len(c.changed) == 0 || !c.changed[i]) && (st.city < 0 || before.cities[st.city].at == s.cities[st.city].at) {
			continue
		}
		st.cityHourUpdated, st.cityHourAQI = 0, -1
		if st.city < 0 || !s.kinds.has(st.Kind) {
			continue
		}
		if in := &s.cities[st.city]; in.aqi >= 0 && in.at != st.at {
			ids, hours = append(ids, st.ID), append(hours, fmt.Sprint(in.at))
		}
	}
	var id string
	var updated uint32
	var aqi int16
	for from := 0; from < len(ids); from += maxStationsPerQuery {
		to := min(from+maxStationsPerQuery, len(ids))
		err := t.each(ctx, []any{&id, &updated, &aqi}, func() {
			st := &s.stations[s.byID[id]]
			st.cityHourUpdated, st.cityHourAQI = updated, aqi
		},
			fmt.Sprintf(`SELECT station, toUInt32(argMax(updated, computed_at)), argMax(ifNull(toInt16(aqi), -1), computed_at) FROM %s.station_hour
			WHERE (station, at) IN (SELECT wanted.1, toDateTime(wanted.2, 'UTC')
				FROM (SELECT arrayJoin(arrayZip({stations:Array(String)}, [%s]::Array(UInt32))) AS wanted))
			GROUP BY station`, t.database, strings.Join(hours[from:to], ", ")),
			param("stations", ids[from:to]))
		if err != nil {
			return fmt.Errorf("reading reports of city hours: %w", err)
		}
	}
	return nil
}

func (s *Snapshot) stationIDs(samples []sample) []string {
	ids := make([]string, len(samples))
	for i, sm := range samples {
		ids[i] = s.stations[sm.station].ID
	}
	return ids
}
