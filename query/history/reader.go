package history

import (
	"context"
	"fmt"
	"slices"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
)

// reader reads the stored hours and days of cities and stations.
type reader struct{ aggregate.Tables }

// readDays reads the days of cities from the given day on, sorted, with one query.
func (t reader) readDays(ctx context.Context, cities []places.City, from schema.Day) (map[places.City][]row, error) {
	names, states := make([]string, len(cities)), make([]string, len(cities))
	for i, c := range cities {
		names[i], states[i] = c.Name, c.State
	}
	out := make(map[places.City][]row, len(cities))
	var c places.City
	var d int32
	var scanned aggregate.Scanned
	err := t.Each(ctx, scanned.Into(&c.Name, &c.State, &d), func() { out[c] = append(out[c], row{schema.Day(d), scanned.Figures()}) },
		fmt.Sprintf(`SELECT city, state, toInt32(day), %s FROM %s.city_day FINAL
			WHERE city IN {cities:Array(String)} AND (city, state) IN arrayZip({cities:Array(String)}, {states:Array(String)})
				AND day >= toDate({from:Int32})
			ORDER BY city, state, day`, aggregate.CityFigures, t.Database),
		aggregate.Param("cities", names), aggregate.Param("states", states), aggregate.Number("from", int32(from)))
	if err != nil {
		return nil, fmt.Errorf("reading days of %q: %w", names, err)
	}
	for c, days := range out {
		out[c] = slices.Clip(days)
	}
	return out, nil
}

func (t reader) cityHours(ctx context.Context, c places.City, days Span) ([]row, error) {
	var out []row
	var scanned aggregate.Scanned
	err := t.Each(ctx, scanned.Into(), func() { out = append(out, row{hourOnly, scanned.Figures()}) },
		fmt.Sprintf(`SELECT %s FROM %s.city_hour FINAL
			WHERE city = {city:String} AND state = {state:String}
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY at`, aggregate.CityFigures, t.Database),
		aggregate.Param("city", c.Name), aggregate.Param("state", c.State), aggregate.Number("from", days.First.Start().Unix()), aggregate.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of %q: %w", c.Name, err)
	}
	return out, nil
}

// readHour sets the figures of each sample to those of its station in the hour that ends at the time `at`. If the
// station has no row for that hour, the figures are zero, and AddStations skips the sample.
func (t reader) readHour(ctx context.Context, snap *snapshot.Snapshot, samples []aggregate.Sample, at uint32) error {
	got := make(map[string]aggregate.Figures, len(samples))
	var id string
	var row aggregate.Scanned
	err := t.EachNamed(ctx, snap.StationIDs(samples), row.Into(&id), func() { got[id] = row.Figures() },
		fmt.Sprintf(`SELECT station, %s FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} AND at = toDateTime({at:UInt32}, 'UTC')`, aggregate.StationFigures, t.Database),
		aggregate.Number("at", at))
	if err != nil {
		return fmt.Errorf("reading an hour of stations: %w", err)
	}
	for i := range samples {
		f := got[snap.Stations[samples[i].Station].ID]
		samples[i].Figures = &f
	}
	return nil
}
