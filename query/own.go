package query

import (
	"context"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
)

// stationByID returns a station of the snapshot. If the snapshot lacks the station, it returns the station that the
// calling account has registered under the id or name. For any other station, including a private station of
// another account, the error is a *schema.Problem with not_found.
func (w *worldState) stationByID(c *httpapi.Call, snap *snapshot.Snapshot, id string) (*station.WithFigures, error) {
	if i, ok := snap.ByID[id]; ok {
		st := &snap.Stations[i]
		return &station.WithFigures{Station: st.Station, Figures: st.Figures}, nil
	}
	ctx, cancel := context.WithTimeout(c.Context(), aggregate.QueryTimeout)
	defer cancel()
	found, err := station.Own(ctx, w.tables, c.Account, id)
	if err == nil && len(found) > 0 {
		err = station.ReadFigures(ctx, w.tables, found[:1])
	}
	switch {
	case err != nil:
		return nil, aggregate.Unavailable(err)
	case len(found) == 0:
		return nil, schema.NewProblem(schema.NotFound, "id", "There is no such station.")
	}
	return &found[0], nil
}

// listOwnStations answers GET /v1/stations?own=true with the stations of the calling account, sorted by id.
func (s *Service) listOwnStations(c *httpapi.Call, own string, params map[string]string) (httpapi.Response, error) {
	if err := param.Texts(params); err != nil {
		return httpapi.Response{}, err
	}
	if own != "true" {
		return httpapi.Response{}, param.Invalid("own", "The parameter own must be true.")
	}
	for _, name := range [...]string{"near", "radius_km", "bbox", "state", "kind"} {
		if _, given := params[name]; given {
			return httpapi.Response{}, param.Conflict(name, "The parameter own is not valid with "+name+".")
		}
	}
	w := s.worlds[c.World]
	ctx, cancel := context.WithTimeout(c.Context(), aggregate.QueryTimeout)
	defer cancel()
	all, err := station.Own(ctx, w.tables, c.Account, "")
	if err != nil {
		return httpapi.Response{}, aggregate.Unavailable(err)
	}
	from, to, next, err := station.PageRange(params, "own stations", len(all), func(i int) string { return all[i].ID })
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := station.ReadFigures(ctx, w.tables, all[from:to]); err != nil {
		return httpapi.Response{}, aggregate.Unavailable(err)
	}
	reply := schema.List[air.StationEntry]{Status: schema.Success, Data: []air.StationEntry{}, HasMore: next != nil, NextCursor: next}
	for i := range all[from:to] {
		reply.Data = append(reply.Data, station.Entry(&all[from+i].Station, &all[from+i].Figures, s.now()))
	}
	return station.StationPage(c, reply)
}
