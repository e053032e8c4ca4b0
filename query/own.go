package query

import (
	"context"
	"fmt"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

// pushSource is the source of stations that accounts have registered.
const pushSource = "push"

// stationByID returns a station of the snapshot. If that has none, it returns the
// station that the calling account has registered under the id or name. The error is a
// *schema.Problem with not_found for every other station, also for private ones of other
// accounts.
func (a *worldState) stationByID(c *httpapi.Call, snap *snapshot.Snapshot, id string) (*snapshot.Station, error) {
	if i, ok := snap.ByID[id]; ok {
		return &snap.Stations[i], nil
	}
	ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
	defer cancel()
	found, err := a.ownStations(ctx, c.Account, id)
	if err == nil && len(found) > 0 {
		err = a.readFigures(ctx, found[:1])
	}
	switch {
	case err != nil:
		return nil, rollup.Unavailable(err)
	case len(found) == 0:
		return nil, schema.NewProblem(schema.NotFound, "id", "There is no such station.")
	}
	return &found[0], nil
}

// listOwnStations handles GET /v1/stations?own=true: the stations that the calling account
// has registered, by id.
func (s *Service) listOwnStations(c *httpapi.Call, own string, params map[string]string) (httpapi.Response, error) {
	if own != "true" {
		return httpapi.Response{}, invalid("own", "The only value is true.")
	}
	for _, name := range [...]string{"near", "radius_km"} {
		if _, given := params[name]; given {
			return httpapi.Response{}, schema.NewProblem(schema.ConflictingParameters, name, "Own stations are not listed by distance.")
		}
	}
	a := s.worlds[c.World]
	ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
	defer cancel()
	all, err := a.ownStations(ctx, c.Account, "")
	if err != nil {
		return httpapi.Response{}, rollup.Unavailable(err)
	}
	from, to, next, err := page(params, "own stations", len(all), func(i int) string { return all[i].ID })
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := a.readFigures(ctx, all[from:to]); err != nil {
		return httpapi.Response{}, rollup.Unavailable(err)
	}
	reply := schema.List[air.StationEntry]{Status: schema.Success, Data: []air.StationEntry{}, HasMore: next != nil, NextCursor: next}
	for i := range all[from:to] {
		reply.Data = append(reply.Data, stationEntry(&all[from+i]))
	}
	return httpapi.Response{Value: reply}, nil
}

// ownStations reads the stations that an account has registered, without figures and
// sorted by id. A name selects the station with this name or id; "" selects all.
func (a *worldState) ownStations(ctx context.Context, account, name string) ([]snapshot.Station, error) {
	var (
		out        []snapshot.Station
		row        air.Station
		kind       uint8
		registered uint32
	)
	err := a.tables.Each(ctx,
		[]any{&row.ID, &row.Name, &row.City, &row.State, &row.Latitude, &row.Longitude, &kind, &row.Attribution, &row.Licence, &registered},
		func() {
			row.Kind, row.Source, row.FirstSeen = air.StationKind(kind), pushSource, rollup.Instant(registered)
			row.LastSeen = row.FirstSeen
			out = append(out, snapshot.Station{Station: row, InCity: -1, Figures: rollup.NoFigures()})
		},
		a.tables.SQL(`SELECT id, name, city, state, latitude, longitude, toUInt8(kind), attribution, licence, toUInt32(registered_at) FROM %s.pushed_station FINAL
			WHERE account = {account:String} AND ({name:String} = '' OR station = {name:String} OR id = {name:String}) ORDER BY id`),
		rollup.Param("account", account), rollup.Param("name", name))
	if err != nil {
		return nil, fmt.Errorf("reading registered stations: %w", err)
	}
	return out, nil
}

// readFigures sets the figures of stations that are not in the snapshot, and when they
// measured first and last. It leaves both unchanged for a station without hours.
func (a *worldState) readFigures(ctx context.Context, stations []snapshot.Station) error {
	ids, byID := make([]string, len(stations)), make(map[string]*snapshot.Station, len(stations))
	for i := range stations {
		ids[i], byID[stations[i].ID] = stations[i].ID, &stations[i]
	}
	hours, err := snapshot.LatestHours(ctx, a.tables, ids)
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
	err = a.tables.EachNamed(ctx, ids, []any{&id, &first, &last},
		func() { byID[id].FirstSeen, byID[id].LastSeen = rollup.Instant(first), rollup.Instant(last) },
		a.tables.SQL(`SELECT station, toUInt32(min(at)), toUInt32(max(updated)) FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} GROUP BY station`))
	if err != nil {
		return fmt.Errorf("reading when stations measured: %w", err)
	}
	return nil
}
