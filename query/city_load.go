package query

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	"vayu/query/places"
)

// cities reads the hours of cities that may have changed since an instant, selects
// the current hour of each (see [currentHour]) and reads its figures.
func (t loader) cities(ctx context.Context, old []city, since uint32, now time.Time) ([]city, error) {
	window := max(since, hourReach+3600) - hourReach - 3600
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
		case c.at < window:
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
		c := city{City: name, hours: list, figures: noFigures()}
		at := uint32(0)
		if len(list) > 0 {
			n, _ := currentHour(list, now)
			at = list[n].at
		}
		switch was := known[name]; {
		case was != nil && (at == 0 || was.at == at && at < since):
			c.figures = was.figures
		case at > 0:
			wanted[name] = at
		}
		out = append(out, c)
	}
	got, err := t.cityHours(ctx, wanted)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if f, ok := got[out[i].City]; ok {
			out[i].figures = f
		}
	}
	return out, nil
}

// promote selects the current hour of each city again, at a later time. It reads
// the figures of hours that have become current.
func (t loader) promote(ctx context.Context, f *snapshotInput, now time.Time) error {
	wanted := map[places.City]uint32{}
	for i := range f.cities {
		c := &f.cities[i]
		if len(c.hours) == 0 {
			continue
		}
		if n, _ := currentHour(c.hours, now); c.hours[n].at != c.at {
			wanted[c.City] = c.hours[n].at
		}
	}
	got, err := t.cityHours(ctx, wanted)
	if err != nil {
		return err
	}
	for i := range f.cities {
		if figures, ok := got[f.cities[i].City]; ok {
			f.cities[i].figures = figures
		}
	}
	return nil
}

// nextPromotion returns when the next hour of a city becomes current by time alone,
// without a roll-up. It is in Unix seconds, 0 for never.
func (s *Snapshot) nextPromotion() int64 {
	var due int64
	for i := range s.cities {
		c := &s.cities[i]
		if len(c.hours) == 0 {
			continue
		}
		if _, next := currentHour(c.hours, s.built); next > 0 && (due == 0 || next < due) {
			due = next
		}
	}
	return due
}

// lastHours reads the hours of each city's last day, for cities with an hour at or
// after since. If names is not nil, only these cities count.
func (t loader) lastHours(ctx context.Context, since uint32, names []places.City) (map[places.City][]cityHour, error) {
	out := map[places.City][]cityHour{}
	var name places.City
	var h cityHour
	where, args := "at >= toDateTime({since:UInt32}, 'UTC')", []any{number("since", since)}
	if names != nil {
		cities, states := splitNames(names)
		where += " AND (city, state) IN (SELECT arrayJoin(arrayZip({cities:Array(String)}, {states:Array(String)})))"
		args = append(args, param("cities", cities), param("states", states))
	}
	err := t.each(ctx, []any{&name.Name, &name.State, &h.at, &h.used}, func() { out[name] = append(out[name], h) },
		fmt.Sprintf(`SELECT city, state, toUInt32(at), stations_used FROM %[1]s.city_hour FINAL
			INNER JOIN (SELECT city, state, max(at) AS latest FROM %[1]s.city_hour FINAL WHERE %[2]s GROUP BY city, state) AS newest
				USING (city, state)
			WHERE %[2]s AND at + %[3]d >= latest
			ORDER BY city, state, at`, t.database, where, hourReach+3600), args...)
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

// cityHours reads the figures of each city in its wanted hour.
func (t loader) cityHours(ctx context.Context, wanted map[places.City]uint32) (map[places.City]figures, error) {
	out := make(map[places.City]figures, len(wanted))
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
	var row raw
	for n := 0; n < len(cities); n += maxStationsPerQuery {
		to := min(n+maxStationsPerQuery, len(cities))
		err := t.each(ctx, row.into(&at.Name, &at.State), func() { out[at] = row.figures() },
			fmt.Sprintf(`SELECT city, state, %[2]s FROM %[1]s.city_hour FINAL
				WHERE at >= toDateTime({from:UInt32}, 'UTC') AND (city, state, toUInt32(at)) IN (
					SELECT arrayJoin(arrayZip({cities:Array(String)}, {states:Array(String)}, [%[3]s]::Array(UInt32))))`,
				t.database, cityFigures, strings.Join(hours[n:to], ", ")),
			number("from", from), param("cities", cities[n:to]), param("states", states[n:to]))
		if err != nil {
			return nil, fmt.Errorf("reading city hours: %w", err)
		}
	}
	return out, nil
}
