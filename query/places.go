package query

import (
	"context"
	"errors"

	"vayu/internal/httpapi"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/query/search"
	"vayu/query/snapshot"
	"vayu/schema"
)

// searchPlaces handles GET /v1/places.
func (s *Service) searchPlaces(c *httpapi.Call) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	r, err := search.Parse(c.Params)
	if err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	pins, err := s.pinsLike(c.Context(), &r)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := s.now()
	resp, err := w.page(c, snap, now, func() (httpapi.Response, error) { return w.searchIndex(snap).Answer(snap, r, pins) })
	resp.Cache = s.cacheControl.At(now)
	return resp, err
}

// pinsLike returns the first r.Limit() pin codes that begin with the digits of a request; nil if it has no digits.
func (s *Service) pinsLike(ctx context.Context, r *search.Request) ([]places.Pin, error) {
	digits := r.Digits()
	if digits == "" {
		return nil, nil
	}
	s.waitForPins(ctx)
	pins, err := s.pins.Begins(digits, r.Limit())
	if errors.Is(err, places.ErrNoPins) {
		return nil, schema.NewProblem(schema.ServiceUnavailable, "q", "Pin codes are unavailable at the moment. Send a name instead.")
	}
	return pins, err
}

// searchIndex returns the index of the places of a snapshot. If the last index does not fit the snapshot, it makes
// a new one. Concurrent calls may make several.
func (w *worldState) searchIndex(snap *snapshot.Snapshot) *search.Index {
	if x := w.places.Load(); x != nil && x.Fits(snap) {
		return x
	}
	x := search.NewIndex(snap)
	w.places.Store(x)
	return x
}
