package query

import (
	"net/http"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/chart"
	"vayu/query/hours"
	"vayu/query/ranking"
	"vayu/query/request"
	"vayu/query/search"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/query/statistics"
	"vayu/query/tiles"
	"vayu/query/translation"
	"vayu/schema"
)

// scope is the permission that a key needs for each route of Routes, except for GET /v1/sources/{source}.
const scope = "aqi:read"

// Routes returns the endpoints of this package.
func (s *Service) Routes() []httpapi.Route {
	svg, png := chart.Formats()
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/aqi", Scope: scope, OwnQuery: true, Handler: s.aqi},
		{Method: http.MethodGet, Path: "/v1/aqi/chart.svg", Scope: scope, Params: chart.Params(), Type: "image/svg+xml", Handler: s.chart(svg)},
		{Method: http.MethodGet, Path: "/v1/aqi/chart.png", Scope: scope, Params: chart.Params(), Type: "image/png", Handler: s.chart(png)},
		{Method: http.MethodGet, Path: "/v1/cities", Scope: scope, Params: []string{"q", "near", "radius_km", "bbox", "state", "kind", "format", "limit", "cursor"}, Type: station.GeoJSON, Handler: s.listCities},
		{Method: http.MethodGet, Path: "/v1/stations", Scope: scope, Params: []string{"near", "radius_km", "bbox", "state", "kind", "own", "format", "limit", "cursor"}, Type: station.GeoJSON, Handler: s.listStations},
		{Method: http.MethodGet, Path: "/v1/places", Scope: scope, Params: search.Params(), Handler: s.searchPlaces},
		{Method: http.MethodGet, Path: "/v1/stations/{id}", Scope: scope, Handler: s.oneStation},
		{Method: http.MethodGet, Path: "/v1/stations/{id}/quality", Scope: scope, Params: []string{"from", "to", "limit", "cursor"}, Handler: s.stationQuality},
		{Method: http.MethodGet, Path: "/v1/statistics", Scope: scope, Params: statistics.Params, Handler: s.statistics},
		{Method: http.MethodGet, Path: "/v1/rankings", Scope: scope, Params: ranking.Params(), Handler: s.rankings},
		{Method: http.MethodGet, Path: "/v1/hours", Scope: scope, Params: hours.Params(), Handler: s.hourOfStations},
		{Method: http.MethodGet, Path: "/v1/tiles/surface/{z}/{x}/{y}.png", Scope: scope, Params: tiles.Params(), Type: tiles.PNG, Handler: s.tile(tiles.ParseSurface)},
		{Method: http.MethodGet, Path: "/v1/tiles/{layer}/{z}/{x}/{y}.mvt", Scope: scope, Type: tiles.MVT, Handler: s.tile(tiles.ParseLayer)},
		{Method: http.MethodGet, Path: "/v1/forecast", Scope: scope, Params: []string{"city", "pincode", "lat", "lon", "days", "hours"}, Handler: s.forecast},
		{Method: http.MethodGet, Path: "/v1/forecast/score", Scope: scope, Params: []string{"city"}, Handler: s.forecastScore},
		{Method: http.MethodGet, Path: "/v1/sources", Scope: scope, Handler: s.sources.List(s.now)},
		{Method: http.MethodGet, Path: "/v1/sources/{source}", Scope: string(schema.SourcesRead), Handler: s.sources.One(s.now)},
	}
}

// aqi handles GET /v1/aqi. It answers with current figures or history, of one place or of several cities.
func (s *Service) aqi(c *httpapi.Call) (httpapi.Response, error) {
	now := s.now()
	q, err := request.Parse(c.URL.RawQuery, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err == nil && len(snap.Cities) == 0 { // a snapshot without cities would report every city as unknown
		err = errNoFigures
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.Kinds == snap.Kinds {
		q.Kinds = 0
	}
	var resp httpapi.Response
	switch {
	case q.Has(request.HasCities):
		resp, err = s.bulk(c, w, snap, &q, now)
	case q.Has(request.HasBox):
		resp, err = s.box(c, w, snap, &q, now)
	case q.Scale != 0:
		resp, err = s.scaled(c, w, snap, &q, now)
	default:
		resp, err = s.answerPlace(c, w, snap, &q, now)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cacheControl.At(now)
	if q.Detail {
		resp = translation.Detail(c.Request, resp)
	}
	return resp, nil
}

var errNoFigures = schema.NewProblem(schema.ServiceUnavailable, "", "There is no data yet. Retry later.")

// snapshotOf returns the worldState and the snapshot for the world of a call. The error is errNoFigures if the world
// has no snapshot yet.
func (s *Service) snapshotOf(c *httpapi.Call) (*worldState, *snapshot.Snapshot, error) {
	w := s.worlds[c.World]
	snap := w.publisher.Latest()
	if snap == nil {
		return nil, nil, errNoFigures
	}
	return w, snap, nil
}

// answerPlace answers a query for one place (a city, a station, a position or a pin code).
func (s *Service) answerPlace(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (resp httpapi.Response, err error) {
	switch {
	case q.Has(request.HasStation):
		resp, err = w.stationAQI(c, snap, q, now)
	case !q.Current():
		return s.past(c, w, snap, q)
	case q.Has(request.HasCity):
		resp, err = w.cityCurrent(c.Context(), snap, q, now)
	default:
		resp, err = s.positionCurrent(c.Context(), w, snap, q, now)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	err = q.SetAge(&resp, now)
	return resp, err
}
