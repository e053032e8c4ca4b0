package query

import (
	"context"
	"fmt"
	"slices"

	"vayu/query/places"
	"vayu/schema"
)

// reader reads the rows of history.
type reader struct{ tables }

// cityRows returns a city's days or hours. kinds is 0 for the default ones, whose
// figures are stored. Days of the default kinds are cached.
func (h *history) cityRows(
	ctx context.Context, snap *Snapshot, i int, kinds kindSet, days span, hourly bool,
) ([]row, error) {
	c := &snap.cities[i]
	if kinds != 0 {
		return h.tables.cityRowsOfKinds(ctx, snap, i, kinds, days, hourly)
	}
	if !hourly {
		p, rows, err := h.days.cityDays(ctx, c.City)
		if err != nil {
			return nil, unavailable(err)
		}
		rows, _ = h.days.filled(ctx, p, between(rows, days), snap.neighboursOf(i))
		return rows, nil
	}
	rows, err := h.tables.cityHours(ctx, c.City, days)
	if err != nil {
		return nil, unavailable(err)
	}
	return rows, unavailable(fillGaps(ctx, h.tables.tables, snap.neighboursOf(i)(), pointers(rows)))
}

// days reads a city's days, beginning with a day, sorted.
func (t reader) days(ctx context.Context, c places.City, from schema.Day) ([]row, error) {
	var out []row
	var d int32
	var scanned raw
	err := t.each(ctx, scanned.into(&d), func() { out = append(out, row{schema.Day(d), scanned.figures()}) },
		fmt.Sprintf(`SELECT toInt32(day), %s FROM %s.city_day FINAL
			WHERE city = {city:String} AND state = {state:String} AND day >= toDate({from:Int32})
			ORDER BY day`, cityFigures, t.database),
		param("city", c.Name), param("state", c.State), number("from", int32(from)))
	if err != nil {
		return nil, fmt.Errorf("reading days of %q: %w", c.Name, err)
	}
	return slices.Clip(out), nil
}

func (t reader) cityHours(ctx context.Context, c places.City, days span) ([]row, error) {
	var out []row
	var scanned raw
	err := t.each(ctx, scanned.into(), func() { out = append(out, row{hourOnly, scanned.figures()}) },
		fmt.Sprintf(`SELECT %s FROM %s.city_hour FINAL
			WHERE city = {city:String} AND state = {state:String}
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			ORDER BY at`, cityFigures, t.database),
		param("city", c.Name), param("state", c.State), number("from", days.first.Start().Unix()), number("to", days.last.End().Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading hours of %q: %w", c.Name, err)
	}
	return out, nil
}

// readHour sets the figures of the samples to those of one hour. Stations without a
// row in that hour get empty figures.
func (t reader) readHour(ctx context.Context, snap *Snapshot, samples []sample, at uint32) error {
	got := make(map[string]figures, len(samples))
	var id string
	var row raw
	err := t.eachNamed(ctx, snap.stationIDs(samples), row.into(&id), func() { got[id] = row.figures() },
		fmt.Sprintf(`SELECT station, %s FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} AND at = toDateTime({at:UInt32}, 'UTC')`, stationFigures, t.database),
		number("at", at))
	if err != nil {
		return fmt.Errorf("reading an hour of stations: %w", err)
	}
	for i := range samples {
		f := got[snap.stations[samples[i].station].ID]
		samples[i].figures = &f
	}
	return nil
}
