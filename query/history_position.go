package query

import (
	"context"
	"fmt"
	"slices"

	"vayu/schema"
)

// positionRows returns the days or hours of a position with these stations nearby. It
// interpolates stations within 25 km. For other days or hours it uses the city of
// the nearest station, if that is within 25 km. Last comes the nearest station
// within 100 km.
//
// The city's history may begin before that of any station with a position.
func (h *history) positionRows(
	ctx context.Context, snap *Snapshot, near []sample, kinds kindSet, days span, hourly bool,
) ([]row, error) {
	inner := slices.IndexFunc(near, func(sm sample) bool { return sm.km > interpolationReach })
	if inner < 0 {
		inner = len(near)
	}
	most := rowCount(days, hourly)
	newest, err := h.tables.newestOfDays(ctx, snap, near, days, hourly)
	if err != nil {
		return nil, unavailable(err)
	}
	rows, err := h.tables.interpolateBetween(ctx, snap, near[:inner], newest, days, hourly, interpolationReach)
	if own := snap.stations[near[0].station].city; err == nil && inner > 0 && own >= 0 && len(rows) < most {
		var more []row
		if more, err = h.cityRows(ctx, snap, snap.canonicalCity(int(own)), kinds, days, hourly); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil && len(rows) < most && inner < len(near) {
		var more []row
		if more, err = h.tables.interpolateBetween(ctx, snap, near[inner:], newest, days, hourly, 0); err == nil {
			rows = join(rows, more)
		}
	}
	if err == nil {
		err = fillGaps(ctx, h.tables.tables, snap.stationIDs(near), pointers(rows))
	}
	return rows, unavailable(err)
}

// newestOfDays reads the latest hour of each day in which one of the samples'
// stations has an AQI. It is empty for hourly queries, which do not compare hours.
func (t reader) newestOfDays(
	ctx context.Context, snap *Snapshot, near []sample, days span, hourly bool,
) (map[schema.Day]uint32, error) {
	out := map[schema.Day]uint32{}
	if hourly {
		return out, nil
	}
	var at uint32
	err := t.eachNamed(ctx, snap.stationIDs(near), []any{&at}, func() {
		day := schema.DayOf(instant(at))
		out[day] = max(out[day], at)
	}, fmt.Sprintf(`SELECT toUInt32(max(at)) FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY toDate(at + %d)`, t.database, int(schema.IndiaOffset.Seconds())-1),
		number("from", days.first.Start().Unix()), number("to", days.last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading days of stations: %w", err)
	}
	return out, nil
}

// rowCount returns the number of the days, or of their hours.
func rowCount(days span, hourly bool) int {
	n := int(days.last-days.first) + 1
	if hourly {
		return 24 * n
	}
	return n
}

// join adds to rows those of more for other days or hours, and sorts by time.
func join(rows, more []row) []row {
	type key struct {
		day schema.Day
		at  uint32 // of an hour
	}
	of := func(m *row) key {
		if m.day == hourOnly {
			return key{m.day, m.at}
		}
		return key{day: m.day}
	}
	there := make(map[key]bool, len(rows))
	for i := range rows {
		there[of(&rows[i])] = true
	}
	for i := range more {
		if !there[of(&more[i])] {
			rows = append(rows, more[i])
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return int(a.at) - int(b.at) })
	return rows
}

// interpolateBetween reads the samples' stations over a range and interpolates each
// day or hour. A day uses each station's last hour with an AQI. Stations whose hour
// is more than 3 h older than the day's newest are left out. With reach 0 only the
// nearest station counts.
func (t reader) interpolateBetween(
	ctx context.Context, snap *Snapshot, near []sample, newest map[schema.Day]uint32, days span, hourly bool, reach float64,
) ([]row, error) {
	if len(near) == 0 {
		return nil, nil
	}
	by := make(map[string]sample, len(near))
	for _, sm := range near {
		by[snap.stations[sm.station].ID] = sm
	}
	// One second is subtracted, because midnight ends an interval of the day
	// before.
	per := fmt.Sprintf("station, toDate(at + %d)", int(schema.IndiaOffset.Seconds())-1)
	if hourly {
		per = "station, at"
	}
	got := map[schema.Day][]sample{} // by day, or by hour since 1970
	var id string
	var scanned raw
	err := t.eachNamed(ctx, snap.stationIDs(near), scanned.into(&id), func() {
		sm, f := by[id], scanned.figures()
		sm.figures = &f
		key := schema.DayOf(instant(f.at))
		if f.at+interpolationWindow < newest[key] {
			return
		}
		if hourly {
			key = schema.Day(f.at / 3600)
		}
		got[key] = append(got[key], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY station, at DESC, computed_at DESC LIMIT 1 BY %s`, stationFigures, t.database, per),
		number("from", days.first.Start().Unix()), number("to", days.last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	out := make([]row, 0, len(got))
	for key, samples := range got {
		samples = snap.preferStations(samples)
		slices.SortFunc(samples, func(a, b sample) int { return int(a.km*1000) - int(b.km*1000) })
		if reach == 0 {
			samples = samples[:1]
		}
		f, _ := weightedMean(samples)
		if hourly {
			key = hourOnly
		}
		out = append(out, row{key, f})
	}
	slices.SortFunc(out, func(a, b row) int { return int(a.at) - int(b.at) })
	return out, nil
}
