package query

import (
	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/ranking"
	"vayu/query/statistics"
	"vayu/schema"
)

// statistics handles GET /v1/statistics. It acquires one of the account's slots for concurrent queries of ClickHouse.
func (s *Service) statistics(c *httpapi.Call) (resp httpapi.Response, err error) {
	w, snap, err := s.snapshotOf(c)
	if err == nil {
		err = param.Texts(c.Params)
	}
	if err != nil {
		return resp, err
	}
	q, err := statistics.Parse(c.Params, snap, schema.DayOf(s.now()))
	if err != nil {
		return resp, err
	}
	release, err := s.historySlots.Acquire(c.Context(), c.Account)
	if err != nil {
		return resp, err
	}
	defer release()
	reply, err := statistics.Read(c.Context(), w.tables, q)
	return httpapi.Response{Value: reply, Cache: s.cacheControl.At(s.now())}, aggregate.Unavailable(err)
}

// rankings handles GET /v1/rankings. A ranking of a period acquires one of the account's slots for concurrent queries
// of ClickHouse.
func (s *Service) rankings(c *httpapi.Call) (resp httpapi.Response, err error) {
	if err := param.Texts(c.Params); err != nil {
		return resp, err
	}
	now := s.now()
	r, err := ranking.Parse(c.Params, now)
	if err != nil {
		return resp, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return resp, err
	}
	if r.Now() {
		resp, err = w.page(c, snap, now, func() (httpapi.Response, error) { return r.Answer(c.Context(), w.tables, snap, now) })
	} else {
		var release func()
		if release, err = s.historySlots.Acquire(c.Context(), c.Account); err != nil {
			return resp, err
		}
		defer release()
		resp, err = r.Answer(c.Context(), w.tables, snap, now)
	}
	resp.Cache = s.cacheControl.At(now)
	return resp, err
}

// hourOfStations handles GET /v1/hours.
func (s *Service) hourOfStations(c *httpapi.Call) (resp httpapi.Response, err error) {
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return resp, err
	}
	now := s.now()
	resp, err = w.hours.Answer(c, w.tables, snap, &s.historySlots, now)
	resp.Cache = s.cacheControl.At(now)
	return resp, err
}
