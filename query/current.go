package query

import (
	"context"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema"
)

// cityCurrent answers a query for the current figures of a city. The usual answer is ready, because package snapshot
// renders its bytes in answers.go when it builds a snapshot.
func (a *worldState) cityCurrent(
	ctx context.Context, snap *snapshot.Snapshot, q *aqiQuery, now time.Time,
) (resp httpapi.Response, err error) {
	i, err := snap.Index.Find(q.city)
	if err != nil {
		return httpapi.Response{}, err
	}
	ok := snap.Current[i].Body != nil
	switch {
	case q.kinds != 0:
		resp, ok, err = snap.CityOfKinds(ctx, a.tables, i, q.kinds, q.detail, now)
	case ok && q.detail:
		resp, err = snap.CityDetail(i, now)
	case ok:
		return snap.Current[i], nil
	}
	if err == nil && !ok {
		err = a.noFigures(ctx, snap, i, q, now)
	}
	return resp, err
}

// positionCurrent answers a query for the current figures of a position or pin code.
func (s *Service) positionCurrent(
	ctx context.Context, a *worldState, snap *snapshot.Snapshot, q *aqiQuery, now time.Time,
) (httpapi.Response, error) {
	if q.has(paramPincode) {
		if q.kinds == 0 {
			if resp, ok := snap.CachedPin(q.pin, q.detail, now); ok {
				return resp, nil
			}
		}
		var err error
		if q.point, err = s.locatePin(ctx, q.pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp, ok, err := snap.At(snapshot.Position{Point: q.point, Pin: q.pin, Kinds: q.kinds, Detail: q.detail}, now)
	if err == nil && !ok {
		err = a.noStationNear(ctx, snap, q.point, q, now)
	}
	return resp, err
}

// checkAge sets the age of an answer. It returns an error if the answer is older than the query allows. In a bulk
// query, checkAge runs for each city.
func (q *aqiQuery) checkAge(resp *httpapi.Response, now time.Time) error {
	if resp.Measured == 0 {
		return nil
	}
	resp.DataAge = max(now.Unix()-resp.Measured, 0)
	resp.Stale = resp.DataAge > int64(rollup.StaleAfter/time.Second)
	if !q.has(paramMaxAge) || resp.DataAge <= q.maxAge || q.has(paramCities) {
		return nil
	}
	return schema.NewProblem(schema.NoCurrentData, "max_age",
		fmt.Sprintf("The latest data is %d seconds old, and max_age is %d.", resp.DataAge, q.maxAge))
}
