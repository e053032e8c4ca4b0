package query

import (
	"context"
	"fmt"
	"strings"

	"vayu/schema"
)

// lendWindow is how old a borrowed figure may be, in seconds (CONTRACT 3: the
// last 24 h before the time of the record).
const lendWindow = 24 * 3600

// lenderKey names what a station last measured before a moment.
type lenderKey struct {
	station string
	at      uint32
}

// lenders reads, for each moment, what each of the stations last measured in the
// 24 h before it; all that there are for nil. Moments must be few, or close together.
func (t tables) lenders(ctx context.Context, stations []string, moments []uint32) (map[lenderKey][records]schema.Figure, error) {
	var columns, amounts []string
	for _, p := range schema.RecordPollutants {
		columns = append(columns, p.String())
		amounts = append(amounts, hundredths("argMax("+p.String()+", (at, computed_at))"))
	}
	from, to, list := moments[0], moments[0], make([]string, len(moments))
	for i, m := range moments {
		from, to = min(from, m), max(to, m)
		list[i] = fmt.Sprint(m)
	}
	var key lenderKey
	var got [records]int32
	dest := []any{&key.station, &key.at}
	for i := range got {
		dest = append(dest, &got[i])
	}
	out := map[lenderKey][records]schema.Figure{}
	row := func() {
		var amount [records]schema.Figure
		for i := range got {
			amount[i] = schema.Figure(got[i])
		}
		out[key] = amount
	}
	named := "station IN {stations:Array(String)}"
	if stations == nil {
		named = "1"
	}
	query := fmt.Sprintf(`SELECT station, moment, %s FROM (
				SELECT station, at, computed_at, %s, arrayJoin(arrayFilter(
					m -> m >= toUInt32(at) AND m < toUInt32(at) + %d, [%s]::Array(UInt32))) AS moment
				FROM %s.station_hour
				WHERE %s AND at > toDateTime({from:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC'))
			GROUP BY station, moment`,
		strings.Join(amounts, ", "), strings.Join(columns, ", "), lendWindow, strings.Join(list, ", "), t.database, named)
	window := []any{number("from", max(from, lendWindow)-lendWindow), number("to", to)}
	var err error
	if stations == nil {
		err = t.each(ctx, dest, row, query, window...)
	} else {
		err = t.eachNamed(ctx, stations, dest, row, query, window...)
	}
	if err != nil {
		return nil, fmt.Errorf("reading figures to borrow: %w", err)
	}
	return out, nil
}

// lend fills what is missing in each of wanted from the nearest of the lenders
// (nearest first) that has it in the 24 h before.
func (t tables) lend(ctx context.Context, ids []string, wanted []*figures) error {
	var moments []uint32
	seen := map[uint32]bool{}
	for _, f := range wanted {
		if f.missing() != 0 && !seen[f.at] {
			seen[f.at] = true
			moments = append(moments, f.at)
		}
	}
	if len(moments) == 0 || len(ids) == 0 {
		return nil
	}
	got, err := t.lenders(ctx, ids, moments)
	if err != nil {
		return err
	}
	for _, f := range wanted {
		for _, id := range ids {
			if f.missing() == 0 {
				break
			}
			if amount, ok := got[lenderKey{id, f.at}]; ok {
				f.borrow(&amount)
			}
		}
	}
	return nil
}

// lendCities fills what is missing in cities whose figures are from since or
// later, with one query for each hour.
func (t tables) lendCities(ctx context.Context, s *Snapshot, since uint32) error {
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
		if c.forget(); c.missing() == 0 {
			continue
		}
		g := groups[c.at]
		if g == nil {
			g = &group{known: map[string]bool{}}
			groups[c.at] = g
		}
		near := s.lenderIDs(s.around(c.position, nearestReach, s.kinds))
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
		got, err := t.lenders(ctx, g.ids, []uint32{at})
		if err != nil {
			return err
		}
		for n, i := range g.cities {
			for _, id := range g.near[n] {
				if amount, ok := got[lenderKey{id, at}]; ok {
					s.cities[i].borrow(&amount)
				}
			}
		}
	}
	return nil
}

// readRecent fills in Snapshot.recent.
func (t tables) readRecent(ctx context.Context, s *Snapshot) error {
	at := s.newest()
	if at == 0 || len(s.stations) == 0 {
		return nil
	}
	got, err := t.lenders(ctx, nil, []uint32{at})
	if err != nil {
		return err
	}
	none := noFigures().amount
	s.recentAt, s.recent = at, make([][records]schema.Figure, len(s.stations))
	for i := range s.stations {
		s.recent[i] = none
		if amount, ok := got[lenderKey{s.stations[i].ID, at}]; ok {
			s.recent[i] = amount
		}
	}
	return nil
}

// readHeard fills in which stations reported in their city's current hour although
// their figures are of another, and their AQI then.
func (t tables) readHeard(ctx context.Context, s *Snapshot) error {
	var ids, hours []string
	for i := range s.stations {
		st := &s.stations[i]
		if st.city < 0 {
			continue
		}
		if st.heard, st.heardAQI = 0, -1; !s.kinds.has(st.Kind) {
			continue
		}
		if c := &s.cities[st.city]; c.aqi >= 0 && c.at != st.at {
			ids, hours = append(ids, st.ID), append(hours, fmt.Sprint(c.at))
		}
	}
	var id string
	var updated uint32
	var aqi int16
	for from := 0; from < len(ids); from += namesMost {
		to := min(from+namesMost, len(ids))
		err := t.each(ctx, []any{&id, &updated, &aqi}, func() {
			st := &s.stations[s.byID[id]]
			st.heard, st.heardAQI = updated, aqi
		},
			fmt.Sprintf(`SELECT station, toUInt32(argMax(updated, computed_at)), argMax(ifNull(toInt16(aqi), -1), computed_at) FROM %s.station_hour
			WHERE (station, at) IN (SELECT wanted.1, toDateTime(wanted.2, 'UTC')
				FROM (SELECT arrayJoin(arrayZip({stations:Array(String)}, [%s]::Array(UInt32))) AS wanted))
			GROUP BY station`, t.database, strings.Join(hours[from:to], ", ")),
			param("stations", ids[from:to]))
		if err != nil {
			return fmt.Errorf("reading who reported: %w", err)
		}
	}
	return nil
}

func (s *Snapshot) lenderIDs(samples []sample) []string {
	ids := make([]string, len(samples))
	for i, sm := range samples {
		ids[i] = s.stations[sm.station].ID
	}
	return ids
}
