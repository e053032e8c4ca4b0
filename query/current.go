package query

import (
	"context"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/request"
	"vayu/query/snapshot"
)

// cityCurrent answers a query for the current figures of a city. Usually it finds the answer ready: package
// snapshot renders the answers when it builds a snapshot.
func (w *worldState) cityCurrent(
	ctx context.Context, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (resp httpapi.Response, err error) {
	i, err := snap.Index.Find(q.City)
	if err != nil {
		return httpapi.Response{}, err
	}
	ok := snap.Current[i].Body != nil
	switch {
	case q.Kinds != 0:
		resp, ok, err = snap.CityOfKinds(ctx, w.tables, i, q.Kinds, q.Detail, now)
	case ok && q.Detail:
		resp, err = snap.CityDetail(i, now)
	case ok:
		return snap.Current[i], nil
	}
	if err == nil && !ok {
		err = w.noFigures(ctx, snap, i, q, now)
	}
	return resp, err
}

// positionCurrent answers a query for the current figures of a position or pin code.
func (s *Service) positionCurrent(
	ctx context.Context, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (httpapi.Response, error) {
	if q.Has(request.HasPincode) {
		if q.Kinds == 0 {
			if resp, ok := snap.CachedPin(q.Pin, q.Detail, now); ok {
				return resp, nil
			}
		}
		var err error
		if q.Point, err = s.locatePin(ctx, q.Pin); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp, ok, err := snap.At(snapshot.Position{Point: q.Point, Pin: q.Pin, Kinds: q.Kinds, Detail: q.Detail}, now)
	if err == nil && !ok {
		err = w.noStationNear(ctx, snap, q.Point, q, now)
	}
	return resp, err
}
