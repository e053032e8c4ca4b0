package history

import (
	"context"
	"fmt"
	"slices"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/snapshot"
	"vayu/schema"
)

// positionRows returns the days or hours of a position. `near` are the stations nearby. For each day or hour,
// positionRows uses the first of these that has figures:
//
//  1. the interpolation of the stations within 25 km
//  2. the city of the nearest station, if that station is within 25 km
//  3. the nearest station within 100 km
//
// The city is used because its history may begin earlier than that of any station with a known position.
func (h *History) positionRows(
	ctx context.Context, snap *snapshot.Snapshot, near []aggregate.Sample, kinds aggregate.KindSet, days Span, hourly bool,
) ([]row, error) {
	inner := slices.IndexFunc(near, func(sm aggregate.Sample) bool { return sm.KM > snapshot.InterpolationReach })
	if inner < 0 {
		inner = len(near)
	}
	most := rowCount(days, hourly)
	newest, err := h.tables.newestOfDays(ctx, snap, near, days, hourly)
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	rows, err := h.tables.interpolateBetween(ctx, snap, near[:inner], newest, days, hourly, snapshot.InterpolationReach)
	if own := snap.Stations[near[0].Station].InCity; err == nil && inner > 0 && own >= 0 && len(rows) < most {
		var more []row
		if more, err = h.cityRows(ctx, snap, canonicalCity(snap, int(own)), kinds, days, hourly); err == nil {
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
		err = gapfill.Fill(ctx, h.tables.Tables, snap.StationIDs(near), pointers(rows))
	}
	return rows, aggregate.Unavailable(err)
}

// newestOfDays returns, for each day, the latest hour in which any of the stations has an AQI. It returns an empty map
// if `hourly` is set, because an hourly query does not need these hours.
func (t reader) newestOfDays(
	ctx context.Context, snap *snapshot.Snapshot, near []aggregate.Sample, days Span, hourly bool,
) (map[schema.Day]uint32, error) {
	out := map[schema.Day]uint32{}
	if hourly {
		return out, nil
	}
	var at uint32
	err := t.EachNamed(ctx, snap.StationIDs(near), []any{&at}, func() {
		day := schema.DayOf(aggregate.Instant(at))
		out[day] = max(out[day], at)
	}, fmt.Sprintf(`SELECT toUInt32(max(at)) FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY toDate(at + %d)`, t.Database, int(schema.IndiaOffset.Seconds())-1),
		aggregate.Number("from", days.First.Start().Unix()), aggregate.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading days of stations: %w", err)
	}
	return out, nil
}

// canonicalCity replaces a city whose state is unknown by the city of the same name whose state is known. It returns i
// if the state of city i is known, or if there is no such other city.
func canonicalCity(s *snapshot.Snapshot, i int) int {
	c := s.Cities[i].City
	if found, err := s.Index.Find(c.Name + ", " + c.State); err == nil {
		return found
	}
	return i
}

// rowCount returns the number of days in a span or, if `hourly` is set, the number of their hours.
func rowCount(days Span, hourly bool) int {
	n := int(days.Last-days.First) + 1
	if hourly {
		return 24 * n
	}
	return n
}

// join adds to `rows` each row of `more` whose day or hour `rows` lacks. It sorts the result by time.
func join(rows, more []row) []row {
	type key struct {
		day schema.Day
		at  uint32 // hour, if the row holds an hour
	}
	of := func(m *row) key {
		if m.day == hourOnly {
			return key{m.day, m.At}
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
	slices.SortFunc(rows, func(a, b row) int { return int(a.At) - int(b.At) })
	return rows
}

// interpolateBetween reads the figures of the stations in `near` over a range, and interpolates each day or hour. For
// a day, it uses each station's last hour with an AQI. It skips a station whose hour is more than 3 h older than the
// newest hour of the day. If `reach` is 0, it uses only the nearest station.
func (t reader) interpolateBetween(
	ctx context.Context, snap *snapshot.Snapshot, near []aggregate.Sample, newest map[schema.Day]uint32, days Span, hourly bool, reach float64,
) ([]row, error) {
	if len(near) == 0 {
		return nil, nil
	}
	by := make(map[string]aggregate.Sample, len(near))
	for _, sm := range near {
		by[snap.Stations[sm.Station].ID] = sm
	}
	// The query subtracts one second, because an hour that ends at midnight belongs to the day before.
	per := fmt.Sprintf("station, toDate(at + %d)", int(schema.IndiaOffset.Seconds())-1)
	if hourly {
		per = "station, at"
	}
	got := map[schema.Day][]aggregate.Sample{} // by day or, if hourly, by hours since 1970
	var id string
	var scanned aggregate.Scanned
	err := t.EachNamed(ctx, snap.StationIDs(near), scanned.Into(&id), func() {
		sm, f := by[id], scanned.Figures()
		sm.Figures = &f
		key := schema.DayOf(aggregate.Instant(f.At))
		if f.At+aggregate.InterpolationWindow < newest[key] {
			return
		}
		if hourly {
			key = schema.Day(f.At / 3600)
		}
		got[key] = append(got[key], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY station, at DESC, computed_at DESC LIMIT 1 BY %s`, aggregate.StationFigures, t.Database, per),
		aggregate.Number("from", days.First.Start().Unix()), aggregate.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	out := make([]row, 0, len(got))
	for key, samples := range got {
		samples = snap.PreferStations(samples)
		slices.SortFunc(samples, func(a, b aggregate.Sample) int { return int(a.KM*1000) - int(b.KM*1000) })
		if reach == 0 {
			samples = samples[:1]
		}
		f, _ := aggregate.WeightedMean(samples)
		if hourly {
			key = hourOnly
		}
		out = append(out, row{key, f})
	}
	slices.SortFunc(out, func(a, b row) int { return int(a.At) - int(b.At) })
	return out, nil
}
