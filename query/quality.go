package query

import (
	"context"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/history"
	"vayu/query/param"
	"vayu/query/rollup"
	"vayu/query/station"
	"vayu/schema"
)

// qualityDays is the default range of GET /v1/stations/{id}/quality, in days.
const qualityDays = 7

// stationQuality handles GET /v1/stations/{id}/quality.
func (s *Service) stationQuality(c *httpapi.Call) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	days, err := history.ParseSpan(c.Params, qualityDays, schema.DayOf(s.now()))
	if err != nil {
		return httpapi.Response{}, err
	}
	a, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st, err := a.stationByID(c, snap, mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	page := station.QualityPage{Station: st.ID, From: days.First, To: days.Last}
	if err := page.Parse(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
	defer cancel()
	reply, err := station.Quality(ctx, a.tables, page)
	if err != nil {
		return httpapi.Response{}, rollup.Unavailable(err)
	}
	return httpapi.Response{Value: reply, Cache: s.cache.At(s.now())}, nil
}
