package query

import (
	"net/http"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// scope is the permission that a key needs for the routes of this package.
const scope = "aqi:read"

// Routes returns the routes of this package.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/aqi", Scope: scope, OwnQuery: true, Handler: s.aqi},
		{Method: http.MethodGet, Path: "/v1/cities", Scope: scope, Params: []string{"q", "limit", "cursor"}, Handler: s.listCities},
		{Method: http.MethodGet, Path: "/v1/stations", Scope: scope, Params: []string{"near", "radius_km", "own", "limit", "cursor"}, Handler: s.listStations},
		{Method: http.MethodGet, Path: "/v1/stations/{id}", Scope: scope, Handler: s.oneStation},
		{Method: http.MethodGet, Path: "/v1/stations/{id}/quality", Scope: scope, Params: []string{"from", "to", "limit", "cursor"}, Handler: s.stationQuality},
		{Method: http.MethodGet, Path: "/v1/sources", Scope: scope, Handler: s.listSources},
		{Method: http.MethodGet, Path: "/v1/sources/{source}", Scope: string(schema.SourcesRead), Handler: s.oneSource},
	}
}

// aqi handles GET /v1/aqi: current figures or history, of one place or of several
// cities.
func (s *Service) aqi(c *httpapi.Call) (httpapi.Response, error) {
	now := s.now()
	q, err := parse(c.URL.RawQuery, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err == nil && len(snap.Cities) == 0 { // a snapshot without cities would report every city as unknown
		err = errNoFigures
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.kinds == snap.Kinds {
		q.kinds = 0
	}
	var resp httpapi.Response
	if q.has(paramCities) {
		resp, err = s.bulk(c, a, snap, &q, now)
	} else {
		resp, err = s.answer(c, a, snap, &q, now)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cacheControl(now)
	return resp, nil
}
