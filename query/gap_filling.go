package query

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vayu/schema"
)

// fillWindow is the maximum age of a value for gap filling, in seconds before the
// time of the record.
const fillWindow = 24 * 3600

// lastAmounts holds, by pollutant, the last amount that a station measured and its
// hour; 0 for none.
type lastAmounts struct {
	amount [records]schema.Figure
	at     [records]uint32
}

// noAmounts returns lastAmounts without values.
func noAmounts() lastAmounts { return lastAmounts{amount: noFigures().amount} }

// readLastAmounts reads the last amounts of each station in the 24 h before each of
// the moments (hours). It returns them by station, in the order of the moments,
// which must ascend. Moments must be few or close together.
func (t tables) readLastAmounts(
	ctx context.Context, stations []string, moments []uint32,
) (map[string][]lastAmounts, error) {
	from := max(moments[0], fillWindow) - fillWindow + 1
	return t.readLastAmountsWhere(ctx, "station IN {stations:Array(String)}", moments, from, func(ctx context.Context, dest []any, row func(), query string, args ...any) error {
		return t.eachNamed(ctx, stations, dest, row, query, args...)
	})
}

// readLastAmountsWhere is readLastAmounts for the stations that match an SQL
// condition, and for hours at or after from. ClickHouse assigns each hour to the
// first moment at or after it, and thus reads it once. carryForward extends it to
// the later moments.
func (t tables) readLastAmountsWhere(ctx context.Context, condition string, moments []uint32, from uint32,
	read func(context.Context, []any, func(), string, ...any) error,
) (map[string][]lastAmounts, error) {
	var amounts, hours []string
	for _, p := range schema.RecordPollutants {
		amounts = append(amounts, hundredths("argMax("+p.String()+", at)"))
		hours = append(hours, "toUInt32(maxIf(at, isNotNull("+p.String()+")))")
	}
	// The SQL function roundDown returns the greatest element of a sorted list that
	// is at most a number. Negated numbers make it round up.
	list := make([]string, len(moments))
	for i, m := range moments {
		list[len(list)-1-i] = fmt.Sprint(-int64(m))
	}
	var id string
	var moment uint32
	var got [records]int32
	var at [records]uint32
	dest := []any{&id, &moment}
	for i := range got {
		dest = append(dest, &got[i])
	}
	for i := range at {
		dest = append(dest, &at[i])
	}
	out := map[string][]lastAmounts{}
	row := func() {
		n, ok := slices.BinarySearch(moments, moment)
		if !ok {
			return
		}
		of := out[id]
		if of == nil {
			of = slices.Repeat([]lastAmounts{noAmounts()}, len(moments))
			out[id] = of
		}
		of[n].at = at
		for i := range got {
			of[n].amount[i] = schema.Figure(got[i])
		}
	}
	if condition == "" {
		condition = "1"
	}
	query := fmt.Sprintf(`SELECT station, toUInt32(-roundDown(-toInt64(toUInt32(at)), [%s]::Array(Int64))) AS moment, %s, %s
			FROM %s.station_hour FINAL
			PREWHERE %s AND at >= toDateTime({from:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')
			WHERE moment < toUInt32(at) + %d
			GROUP BY station, moment`,
		strings.Join(list, ", "), strings.Join(amounts, ", "), strings.Join(hours, ", "), t.database, condition, fillWindow)
	if err := read(ctx, dest, row, query, number("from", from), number("to", moments[len(moments)-1])); err != nil {
		return nil, fmt.Errorf("reading values for gap filling: %w", err)
	}
	for _, of := range out {
		carryForward(of, moments)
	}
	return out, nil
}

// carryForward copies missing amounts of each moment from the moment before, if
// they are at most 24 h old.
func carryForward(of []lastAmounts, moments []uint32) {
	for n := 1; n < len(of); n++ {
		for p, at := range of[n-1].at {
			if of[n].at[p] == 0 && at > 0 && at+fillWindow > moments[n] {
				of[n].at[p], of[n].amount[p] = at, of[n-1].amount[p]
			}
		}
	}
}

// single returns the amounts of a single moment; a station without rows has none.
func single(of []lastAmounts) lastAmounts {
	if len(of) == 0 {
		return noAmounts()
	}
	return of[0]
}

// fillGaps fills the gaps of wanted from the nearest station with a value in the 24
// h before. ids are sorted by distance.
func (t tables) fillGaps(ctx context.Context, ids []string, wanted []*figures) error {
	var moments []uint32
	for _, f := range wanted {
		if f.missing() != 0 {
			moments = append(moments, f.at)
		}
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	if len(moments) == 0 || len(ids) == 0 {
		return nil
	}
	got, err := t.readLastAmounts(ctx, ids, moments)
	if err != nil {
		return err
	}
	for _, f := range wanted {
		n, lacks := slices.BinarySearch(moments, f.at)
		for i := 0; lacks && i < len(ids) && f.missing() != 0; i++ {
			if last, ok := got[ids[i]]; ok {
				f.fillFrom(&last[n].amount)
			}
		}
	}
	return nil
}

// fillCityGaps fills the gaps of cities whose hour is at or after since, with one
// SQL query per hour.
func (t tables) fillCityGaps(ctx context.Context, s *Snapshot, since uint32) error {
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
		got, err := t.readLastAmounts(ctx, g.ids, []uint32{at})
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

// readRecent sets Snapshot.recent. It reads the stations that changed and copies
// the others from the previous snapshot.
func (t tables) readRecent(ctx context.Context, s, before *Snapshot, f *snapshotInput) error {
	at := s.newest()
	if at == 0 || len(s.stations) == 0 {
		return nil
	}
	s.recentAt = at
	first := max(at, fillWindow) - fillWindow + 1
	whole := before == nil || before.recent == nil || !f.samePlaces || at < before.recentAt
	switch {
	case whole:
		got, err := t.readLastAmountsWhere(ctx, "", []uint32{at}, first, t.each)
		if err != nil {
			return err
		}
		s.recent = make([]lastAmounts, len(s.stations))
		for i := range s.stations {
			s.recent[i] = single(got[s.stations[i].ID])
		}
		return nil
	case !slices.Contains(f.changed, true):
		s.recent = before.recent
		return nil
	}
	since := max(f.since, first)
	got, err := t.readLastAmountsWhere(ctx, f.condition, []uint32{at}, since, t.each)
	if err != nil {
		return err
	}
	s.recent = slices.Clone(before.recent)
	var again []string // stations that lost an amount at or after since
	for i := range s.stations {
		if !f.changed[i] {
			continue
		}
		last := single(got[s.stations[i].ID])
		if !s.recent[i].update(&last, since) {
			again = append(again, s.stations[i].ID)
		}
	}
	if len(again) == 0 {
		return nil
	}
	if got, err = t.readLastAmounts(ctx, again, []uint32{at}); err != nil {
		return err
	}
	for _, id := range again {
		s.recent[s.byID[id]] = single(got[id])
	}
	return nil
}

// update replaces amounts by those of last, which were measured at or after since.
// It returns false if last lacks such an amount that l has.
func (l *lastAmounts) update(last *lastAmounts, since uint32) bool {
	for p := range l.at {
		switch {
		case last.at[p] > 0:
			l.at[p], l.amount[p] = last.at[p], last.amount[p]
		case l.at[p] >= since:
			return false
		}
	}
	return true
}

// readCityHourReports reads which stations reported in their city's current hour
// although their own latest hour differs, and their AQI then. It reads only
// stations for which that may have changed since the previous snapshot.
func (t tables) readCityHourReports(ctx context.Context, s, before *Snapshot, f *snapshotInput) error {
	var ids, hours []string
	same := before != nil && f.samePlaces
	for i := range s.stations {
		st := &s.stations[i]
		if same && (len(f.changed) == 0 || !f.changed[i]) && (st.city < 0 || before.cities[st.city].at == s.cities[st.city].at) {
			continue
		}
		st.cityHourUpdated, st.cityHourAQI = 0, -1
		if st.city < 0 || !s.kinds.has(st.Kind) {
			continue
		}
		if c := &s.cities[st.city]; c.aqi >= 0 && c.at != st.at {
			ids, hours = append(ids, st.ID), append(hours, fmt.Sprint(c.at))
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
