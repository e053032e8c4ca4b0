package station

import (
	"context"
	"fmt"

	"vayu/query/aggregate"
	"vayu/schema/air"
)

// pushSource is the source of stations that accounts have registered.
const pushSource = "push"

// WithFigures is a station with the figures of its latest hour.
type WithFigures struct {
	air.Station
	aggregate.Figures
}

// Own reads the stations that an account has registered, without figures. `name` selects stations by name or id;
// "" selects all. The station whose id is `name` comes first, and the others follow by id.
func Own(ctx context.Context, t aggregate.Tables, account, name string) ([]WithFigures, error) {
	var (
		out        []WithFigures
		row        air.Station
		kind       uint8
		registered uint32
	)
	err := t.Each(ctx,
		[]any{&row.ID, &row.Name, &row.City, &row.State, &row.Latitude, &row.Longitude, &kind, &row.Attribution, &row.Licence, &registered},
		func() {
			row.Kind, row.Source, row.FirstSeen = air.StationKind(kind), pushSource, aggregate.Instant(registered)
			row.LastSeen = row.FirstSeen
			out = append(out, WithFigures{row, aggregate.NoFigures()})
		},
		t.SQL(`SELECT id, name, city, state, latitude, longitude, toUInt8(kind), attribution, licence, toUInt32(registered_at) FROM %s.pushed_station FINAL
			WHERE account = {account:String} AND ({name:String} = '' OR station = {name:String} OR id = {name:String}) ORDER BY id != {name:String}, id`),
		aggregate.Param("account", account), aggregate.Param("name", name))
	if err != nil {
		return nil, fmt.Errorf("reading registered stations: %w", err)
	}
	return out, nil
}

// ReadFigures sets the figures of stations that are not in the snapshot, and the times of their first and last
// measurement. A station without hourly rows stays unchanged.
func ReadFigures(ctx context.Context, t aggregate.Tables, stations []WithFigures) error {
	ids, byID := make([]string, len(stations)), make(map[string]*WithFigures, len(stations))
	for i := range stations {
		ids[i], byID[stations[i].ID] = stations[i].ID, &stations[i]
	}
	hours, err := t.HoursOf(ctx, ids)
	if err != nil {
		return err
	}
	for id, figures := range hours {
		byID[id].Figures = figures
	}
	var (
		id          string
		first, last uint32
	)
	err = t.EachNamed(ctx, ids, []any{&id, &first, &last},
		func() { byID[id].FirstSeen, byID[id].LastSeen = aggregate.Instant(first), aggregate.Instant(last) },
		t.SQL(`SELECT station, toUInt32(min(at)), toUInt32(max(updated)) FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} GROUP BY station`))
	if err != nil {
		return fmt.Errorf("reading when stations measured: %w", err)
	}
	return nil
}
