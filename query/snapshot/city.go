package snapshot

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/query/places"
)

// cities returns the cities with their latest hours and current figures. Hours that end at or after the time `since`
// may have changed. So cities reads the hours from 25 h before `since`, and selects the current hour of each city (see
// [aggregate.CurrentHour]). `old` are the cities of the previous snapshot. A city without changes keeps its figures.
func (t loader) cities(ctx context.Context, old []city, since uint32, now time.Time) ([]city, error) {
	window := max(since, aggregate.HourReach+3600) - aggregate.HourReach - 3600
	hours, err := t.lastHours(ctx, window, nil)
	if err != nil {
		return nil, err
	}
	known := make(map[places.City]*city, len(old))
	var gone []places.City // cities whose latest hours the tables no longer have
	for i := range old {
		c := &old[i]
		known[c.City] = c
		switch _, ok := hours[c.City]; {
		case ok:
		case c.At < window:
			hours[c.City] = c.hours
		default:
			gone = append(gone, c.City)
		}
	}
	if len(gone) > 0 && window > 0 {
		earlier, err := t.lastHours(ctx, 0, gone)
		if err != nil {
			return nil, err
		}
		maps.Copy(hours, earlier)
	}
	var out []city
	wanted := map[places.City]uint32{}
	for name, list := range hours {
		c := city{City: name, hours: list, Figures: aggregate.NoFigures()}
		at := uint32(0)
		if len(list) > 0 {
			n, _ := aggregate.CurrentHour(list, now)
			at = list[n].At
		}
		switch was := known[name]; {
		case was != nil && (at == 0 || was.At == at && at < since):
			c.Figures = was.Figures
		case at > 0:
			wanted[name] = at
		}
		out = append(out, c)
	}
	got, err := t.hourFigures(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if f, ok := got[out[i].City]; ok {
			out[i].Figures = f
		}
	}
	return out, nil
}

// promote selects the current hour of each city again, because a later hour may have become current. It reads the
// figures of these hours.
func (t loader) promote(ctx context.Context, f *snapshotInput, now time.Time) error {
	wanted := map[places.City]uint32{}
	for i := range f.cities {
		c := &f.cities[i]
		if len(c.hours) == 0 {
			continue
		}
		if n, _ := aggregate.CurrentHour(c.hours, now); c.hours[n].At != c.At {
			wanted[c.City] = c.hours[n].At
		}
	}
	got, err := t.hourFigures(ctx, wanted)
	if err != nil {
		return err
	}
	for i := range f.cities {
		if figures, ok := got[f.cities[i].City]; ok {
			f.cities[i].Figures = figures
		}
	}
	return nil
}

// nextPromotion returns the next time (Unix seconds) at which a waiting hour of any city becomes current; 0 if no hour
// waits. An hour waits if it has too few stations. It becomes current aggregate.HourWait after its end, even without a
// roll-up.
func (s *Snapshot) nextPromotion() int64 {
	var due int64
	for i := range s.Cities {
		c := &s.Cities[i]
		if len(c.hours) == 0 {
			continue
		}
		if _, next := aggregate.CurrentHour(c.hours, s.Built); next > 0 && (due == 0 || next < due) {
			due = next
		}
	}
	return due
}

// lastHours reads the hours at or after the time `since` that are within 25 h of their city's latest hour. It reads
// the cities in `names`; nil means all.
func (t loader) lastHours(ctx context.Context, since uint32, names []places.City) (map[places.City][]aggregate.CityHour, error) {
	out := map[places.City][]aggregate.CityHour{}
	var name places.City
	var h aggregate.CityHour
	where, args := "at >= toDateTime({since:UInt32}, 'UTC')", []any{aggregate.Number("since", since)}
	if names != nil {
		cities, states := splitNames(names)
		where += " AND (city, state) IN (SELECT arrayJoin(arrayZip({cities:Array(String)}, {states:Array(String)})))"
		args = append(args, aggregate.Param("cities", cities), aggregate.Param("states", states))
	}
	err := t.Each(ctx, []any{&name.Name, &name.State, &h.At, &h.Used}, func() { out[name] = append(out[name], h) },
		fmt.Sprintf(`SELECT city, state, toUInt32(at), stations_used FROM %[1]s.city_hour FINAL
			INNER JOIN (SELECT city, state, max(at) AS latest FROM %[1]s.city_hour FINAL WHERE %[2]s GROUP BY city, state) AS newest
				USING (city, state)
			WHERE %[2]s AND at + %[3]d >= latest
			ORDER BY city, state, at`, t.Database, where, aggregate.HourReach+3600), args...)
	if err != nil {
		return nil, fmt.Errorf("reading hours of cities: %w", err)
	}
	return out, nil
}

func splitNames(names []places.City) (cities, states []string) {
	for _, c := range names {
		cities, states = append(cities, c.Name), append(states, c.State)
	}
	return cities, states
}

// hourFigures reads the figures of cities. `wanted` maps each city to the hour to read.
func (t loader) hourFigures(ctx context.Context, wanted map[places.City]uint32) (map[places.City]aggregate.Figures, error) {
	out := make(map[places.City]aggregate.Figures, len(wanted))
	if len(wanted) == 0 {
		return out, nil
	}
	var cities, states, hours []string
	from := ^uint32(0)
	for name, at := range wanted {
		cities, states, hours = append(cities, name.Name), append(states, name.State), append(hours, fmt.Sprint(at))
		from = min(from, at)
	}
	var at places.City
	var row aggregate.Scanned
	for n := 0; n < len(cities); n += aggregate.MaxStationsPerQuery {
		to := min(n+aggregate.MaxStationsPerQuery, len(cities))
		err := t.Each(ctx, row.Into(&at.Name, &at.State), func() { out[at] = row.Figures() },
			fmt.Sprintf(`SELECT city, state, %[2]s FROM %[1]s.city_hour FINAL
				WHERE at >= toDateTime({from:UInt32}, 'UTC') AND (city, state, toUInt32(at)) IN (
					SELECT arrayJoin(arrayZip({cities:Array(String)}, {states:Array(String)}, [%[3]s]::Array(UInt32))))`,
				t.Database, aggregate.CityFigures, strings.Join(hours[n:to], ", ")),
			aggregate.Number("from", from), aggregate.Param("cities", cities[n:to]), aggregate.Param("states", states[n:to]))
		if err != nil {
			return nil, fmt.Errorf("reading city hours: %w", err)
		}
	}
	return out, nil
}
