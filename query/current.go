package query

import (
	"net/http"
	"time"

	"vayu/internal/api"
)

// scope is what a key must hold to ask about air.
const scope = "aqi:read"

// Routes returns the routes of this package; the busiest comes first because
// the router tries them in order.
func (s *Service) Routes() []api.Route {
	return []api.Route{
		{Method: http.MethodGet, Path: "/v1/aqi", Scope: scope, Handler: s.aqi},
		{Method: http.MethodGet, Path: "/v1/cities", Scope: scope, Handler: s.listCities},
		{Method: http.MethodGet, Path: "/v1/stations", Scope: scope, Handler: s.listStations},
		{Method: http.MethodGet, Path: "/v1/stations/{id}", Scope: scope, Handler: s.oneStation},
		{Method: http.MethodGet, Path: "/v1/stations/{id}/quality", Scope: scope, Handler: s.stationQuality},
	}
}

// aqi answers GET /v1/aqi in all its forms.
func (s *Service) aqi(c *api.Call) (api.Response, error) {
	now := s.now()
	q, err := parse(c.URL.RawQuery, now)
	if err != nil {
		return api.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err == nil && len(snap.cities) == 0 { // to call every city unknown would be wrong a moment later
		err = errNoFigures
	}
	if err != nil {
		return api.Response{}, err
	}
	var resp api.Response
	switch {
	case q.has(askCities):
		resp, err = s.bulk(c, a, snap, &q, now)
	case q.has(askDate | askFrom):
		resp, err = s.pastOf(c, a, snap, &q)
	case q.has(askCity):
		resp, err = snap.cityCurrent(&q, now)
	case q.has(askPincode):
		resp, err = s.pinCurrent(c.Context(), snap, &q, now)
	default:
		resp, err = snap.pointCurrent(&q, now)
	}
	if err != nil {
		return api.Response{}, err
	}
	resp.Cache = s.cacheControl(now)
	return resp, nil
}

func (s *Snapshot) cityCurrent(q *question, now time.Time) (api.Response, error) {
	i, err := s.index.Find(q.city)
	if err != nil {
		return api.Response{}, err
	}
	if s.current[i].Body == nil {
		return api.Response{}, s.noFigures(i)
	}
	if q.detail {
		return s.cityDetail(i, now)
	}
	return s.current[i], nil
}

func (s *Snapshot) pointCurrent(q *question, now time.Time) (api.Response, error) {
	record, detail, err := s.position(q.point, "", q.detail, now)
	if err != nil {
		return api.Response{}, refield(err, "lat")
	}
	if q.detail {
		return detail.Response, nil
	}
	return record, nil
}
