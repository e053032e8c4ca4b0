package query

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/query/sources"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
)

// Default and maximum of the parameter radius_km of GET /v1/stations, in km.
const (
	defaultRadius = 25.0
	maxRadius     = 500.0
)

// listSources handles GET /v1/sources.
func (s *Service) listSources(c *httpapi.Call) (httpapi.Response, error) {
	reply, err := s.sources.Of(c.Context(), c.World, s.now())
	return httpapi.Response{Value: reply, Cache: []string{fmt.Sprintf("private, max-age=%d", int(sources.MaxAge.Seconds()))}}, err
}

// oneSource handles GET /v1/sources/{source}.
func (s *Service) oneSource(c *httpapi.Call) (httpapi.Response, error) {
	name := mux.Vars(c.Request)["source"]
	detail, err := s.sources.Detail(c.Context(), c.World, name, s.now())
	if err != nil {
		return httpapi.Response{}, err
	}
	if detail == nil {
		return httpapi.Response{}, schema.NewProblem(schema.NotFound, "", "No source of this name has run in the last 30 days.")
	}
	return httpapi.Response{Value: air.SourceReply{Status: schema.Success, Data: *detail}}, nil
}

// checkParams checks that every parameter is valid text. The error is about the first invalid one, by name.
func checkParams(params map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if err := checkText(name, params[name]); err != nil {
			return err
		}
	}
	return nil
}

// listCities handles GET /v1/cities.
func (s *Service) listCities(c *httpapi.Call) (httpapi.Response, error) {
	if err := checkParams(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	_, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	found := snap.Index.Prefix(c.Params["q"])
	key := func(i int) string { return snap.Index.Label(found[i]) + "\x00" + snap.Cities[found[i]].State }
	from, to, next, err := station.PageRange(c.Params, "cities", len(found), key)
	if err != nil {
		return httpapi.Response{}, err
	}
	list := schema.List[air.CityEntry]{Status: schema.Success, Data: []air.CityEntry{}, HasMore: next != nil, NextCursor: next}
	now := s.now()
	for _, i := range found[from:to] {
		list.Data = append(list.Data, station.CityEntry(snap, i, now))
	}
	return httpapi.Response{Value: list, Cache: s.cache.At(now)}, nil
}

// listStations handles GET /v1/stations. It lists the stations near a position by distance, all
// stations by id, or the account's own stations.
func (s *Service) listStations(c *httpapi.Call) (httpapi.Response, error) {
	if err := checkParams(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	if own, given := c.Params["own"]; given {
		return s.listOwnStations(c, own, c.Params)
	}
	_, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	found, err := wantedStations(snap, c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	where, near := c.Params["near"]
	key := func(i int) string {
		id := snap.Stations[found[i].Station].ID
		if near {
			return strconv.FormatInt(1e9+int64(found[i].KM*1000), 10) + id
		}
		return id
	}
	if near {
		slices.SortFunc(found, func(a, b rollup.Sample) int {
			if d := int64(a.KM*1000) - int64(b.KM*1000); d != 0 {
				return int(d)
			}
			return strings.Compare(snap.Stations[a.Station].ID, snap.Stations[b.Station].ID)
		})
	}
	list := "stations"
	if near {
		list = "stations near " + where // a list of its own, because its keys begin with distances
	}
	from, to, next, err := station.PageRange(c.Params, list, len(found), key)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply := schema.List[air.StationEntry]{Status: schema.Success, Data: []air.StationEntry{}, HasMore: next != nil, NextCursor: next}
	now := s.now()
	for _, sm := range found[from:to] {
		e := station.Entry(&snap.Stations[sm.Station].Station, &snap.Stations[sm.Station].Figures, now)
		if near {
			e.DistanceKM = snapshot.Kilometres(sm.KM)
		}
		reply.Data = append(reply.Data, e)
	}
	return httpapi.Response{Value: reply, Cache: s.cache.At(now)}, nil
}

func wantedStations(s *snapshot.Snapshot, params map[string]string) ([]rollup.Sample, error) {
	near, ok := params["near"]
	radius, given := params["radius_km"]
	if !ok {
		if km, err := parseDegrees("radius_km", radius, maxRadius); given && (err != nil || km != defaultRadius) {
			return nil, invalid("radius_km", "The parameter radius_km requires near.")
		}
		all := make([]rollup.Sample, len(s.Stations)) // sorted by id already
		for i := range all {
			all[i].Station = int32(i)
		}
		return all, nil
	}
	km := defaultRadius
	if given {
		var err error
		if km, err = parseDegrees("radius_km", radius, maxRadius); err != nil || km <= 0 {
			return nil, invalid("radius_km", "The parameter radius_km must be more than 0 and at most 500.")
		}
	}
	lat, lon, found := strings.Cut(near, ",")
	if !found {
		return nil, invalid("near", "The parameter near must be latitude,longitude in degrees.")
	}
	var p places.Point
	var err error
	if p.Latitude, err = parseDegrees("near", strings.TrimSpace(lat), 90); err != nil {
		return nil, err
	}
	if p.Longitude, err = parseDegrees("near", strings.TrimSpace(lon), 180); err != nil {
		return nil, err
	}
	return s.Around(p, km, rollup.KindsOf(air.StationKinds[:]...)), nil
}

// oneStation handles GET /v1/stations/{id}.
func (s *Service) oneStation(c *httpapi.Call) (httpapi.Response, error) {
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st, err := a.stationByID(c, snap, mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	now := s.now()
	reply := air.StationReply{Status: schema.Success, StationEntry: station.Entry(&st.Station, &st.Figures, now), Readings: a.latest(c.Context(), &st.Station)}
	resp := httpapi.Response{Cache: s.cache.At(now)}
	if st.At > 0 {
		at := rollup.Instant(st.At)
		reply.Hour, resp.Measured = &at, int64(st.Updated)
	}
	resp.Value = reply
	err = (&aqiQuery{}).checkAge(&resp, now)
	return resp, err
}

// latest returns the latest reading of each parameter of a station. It returns nil if the readings cannot be read, so
// that the rest of the answer can be sent.
func (a *worldState) latest(ctx context.Context, st *air.Station) []air.LatestReading {
	if !a.tables.Healthy() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, rollup.QueryTimeout)
	defer cancel()
	rows, err := station.Readings(ctx, a.tables, st)
	if err != nil {
		a.metrics.historyErrors.Inc()
		return nil
	}
	out := make([]air.LatestReading, len(rows))
	for i := range rows {
		out[i] = rows[i].LatestReading
	}
	return out
}
