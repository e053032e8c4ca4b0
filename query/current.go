package query

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// scope is the permission that a key needs for the routes of this package.
const scope = "aqi:read"

// Routes returns the routes of this package. The busiest comes first, because the
// router tries them in order.
func (s *Service) Routes() []httpapi.Route {
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/aqi", Scope: scope, Handler: s.aqi},
		{Method: http.MethodGet, Path: "/v1/cities", Scope: scope, Handler: s.listCities},
		{Method: http.MethodGet, Path: "/v1/stations", Scope: scope, Handler: s.listStations},
		{Method: http.MethodGet, Path: "/v1/stations/{id}", Scope: scope, Handler: s.oneStation},
		{Method: http.MethodGet, Path: "/v1/stations/{id}/quality", Scope: scope, Handler: s.stationQuality},
	}
}

// aqi handles GET /v1/aqi in all its forms.
func (s *Service) aqi(c *httpapi.Call) (httpapi.Response, error) {
	now := s.now()
	q, err := parse(c.URL.RawQuery, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err == nil && len(snap.cities) == 0 { // without cities, each would be reported as unknown
		err = errNoFigures
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.kinds == snap.kinds {
		q.kinds = 0
	}
	var resp httpapi.Response
	switch {
	case q.has(paramCities):
		resp, err = s.bulk(c, a, snap, &q, now)
	case !q.current():
		resp, err = s.answerHistory(c, a, snap, &q)
	case q.has(paramCity):
		resp, err = a.cityCurrent(c.Context(), snap, &q, now)
	case q.has(paramPincode):
		resp, err = s.pinCurrent(c.Context(), a, snap, &q, now)
	default:
		resp, err = a.pointCurrent(c.Context(), snap, &q, now)
	}
	if err == nil && q.current() {
		err = q.checkAge(&resp, now)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp.Cache = s.cacheControl(now)
	return resp, nil
}

// checkAge sets the age of an answer and rejects one that is older than the query
// allows. In a bulk query each city is checked separately.
func (q *aqiQuery) checkAge(resp *httpapi.Response, now time.Time) error {
	if resp.Measured == 0 {
		return nil
	}
	resp.DataAge = max(now.Unix()-resp.Measured, 0)
	resp.Stale = resp.DataAge > int64(StaleAfter/time.Second)
	if !q.has(paramMaxAge) || resp.DataAge <= q.maxAge || q.has(paramCities) {
		return nil
	}
	return schema.NewProblem(schema.NoCurrentData, "max_age",
		fmt.Sprintf("The latest figures are %d seconds old, and at most %d are allowed.", resp.DataAge, q.maxAge))
}

func (a *worldState) cityCurrent(
	ctx context.Context, snap *Snapshot, q *aqiQuery, now time.Time,
) (httpapi.Response, error) {
	i, err := snap.index.Find(q.city)
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.namesKinds() {
		return a.cityOfKinds(ctx, snap, i, q, now)
	}
	if snap.current[i].Body == nil {
		return httpapi.Response{}, a.noFigures(ctx, snap, i, q, now)
	}
	if q.detail {
		return snap.cityDetail(i, now)
	}
	return snap.current[i], nil
}

// cityOfKinds answers a query that names a city and other kinds than the default.
func (a *worldState) cityOfKinds(
	ctx context.Context, snap *Snapshot, i int, q *aqiQuery, now time.Time,
) (httpapi.Response, error) {
	f, used, ok, err := a.currentOfKinds(ctx, snap, i, q.kinds, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	if !ok {
		return httpapi.Response{}, a.noFigures(ctx, snap, i, q, now)
	}
	record := f.record(snap.index.Label(i))
	if !q.detail {
		resp := httpapi.Ready(q.appendKinds(append(record.Append(make([]byte, 0, 300)), '}')), time.Time{})
		resp.Measured = int64(f.updated)
		return resp, nil
	}
	d := detailOf(&f, now)
	d.State, d.Kinds = snap.cities[i].State, q.kinds.named()
	snap.addStations(&d, used)
	body, err := json.Marshal(detailRecord{Record: record, Detail: d})
	if err != nil {
		return httpapi.Response{}, err
	}
	return newDetailed(body, f.updated, d.Stale).Response, nil
}

func (a *worldState) pointCurrent(
	ctx context.Context, snap *Snapshot, q *aqiQuery, now time.Time,
) (httpapi.Response, error) {
	record, detail, err := a.position(ctx, snap, q.point, q, now)
	if err != nil {
		return httpapi.Response{}, err
	}
	if q.detail {
		return detail.Response, nil
	}
	return record, nil
}
