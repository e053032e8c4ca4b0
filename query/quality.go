package query

import (
	"context"
	"strconv"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/rollup"
	"vayu/query/station"
	"vayu/schema"
)

// Default and maximum number of days of GET /v1/stations/{id}/quality.
const (
	qualityDays     = 7 // default, if the query has no parameter from
	mostQualityDays = 366
)

// stationQuality handles GET /v1/stations/{id}/quality.
func (s *Service) stationQuality(c *httpapi.Call) (httpapi.Response, error) {
	if err := checkParams(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	from, to, err := qualityRange(c.Params, schema.DayOf(s.now()))
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
	page := station.QualityPage{Station: st.ID, From: from, To: to}
	if err := page.Parse(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
	defer cancel()
	reply, err := station.Quality(ctx, a.tables, page)
	if err != nil {
		return httpapi.Response{}, rollup.Unavailable(err)
	}
	return httpapi.Response{Value: reply, Cache: s.cacheControl(s.now())}, nil
}

// qualityRange parses the parameters from and to. By default, to is today, and the range has seven
// days.
func qualityRange(params map[string]string, today schema.Day) (from, to schema.Day, err error) {
	to = today
	if text, ok := params["to"]; ok {
		if to, err = parseDay("to", text); err != nil {
			return 0, 0, err
		}
	}
	from = to - qualityDays + 1
	if text, ok := params["from"]; ok {
		if from, err = parseDay("from", text); err != nil {
			return 0, 0, err
		}
	}
	switch {
	case to > today:
		return 0, 0, invalid("to", "The range ends in the future (Indian time).")
	case from > to:
		return 0, 0, invalid("from", "The range ends before it begins.")
	case to-from >= mostQualityDays:
		return 0, 0, invalid("to", "A range has at most "+strconv.Itoa(mostQualityDays)+" days.")
	}
	return from, to, nil
}
