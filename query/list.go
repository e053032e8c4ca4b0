package query

import (
	"context"
	"strings"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
)

// listCities handles GET /v1/cities.
func (s *Service) listCities(c *httpapi.Call) (httpapi.Response, error) {
	return s.list(c, station.Cities)
}

// listStations handles GET /v1/stations: public stations or, with the parameter "own", the account's own stations.
func (s *Service) listStations(c *httpapi.Call) (httpapi.Response, error) {
	if own, given := c.Params["own"]; given {
		return s.listOwnStations(c, own, c.Params)
	}
	return s.list(c, station.Stations)
}

// list answers with a page of a list. If the page is not cached, the function `of` renders it from the snapshot.
func (s *Service) list(
	c *httpapi.Call, of func(*httpapi.Call, *snapshot.Snapshot, time.Time) (httpapi.Response, error),
) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := s.now()
	resp, err := w.page(c, snap, now, func() (httpapi.Response, error) { return of(c, snap, now) })
	resp.Cache = s.cacheControl.At(now)
	return resp, err
}

// page returns a page from memory, or calls `render` for it. The page must depend only on the snapshot, and on the URL
// and the Accept header of the call.
func (w *worldState) page(c *httpapi.Call, snap *snapshot.Snapshot, now time.Time, render func() (httpapi.Response, error)) (httpapi.Response, error) {
	return w.lists.Get(snap, now, c.URL.Path+"?"+c.URL.RawQuery+"\n"+strings.Join(c.Header["Accept"], ","), render)
}

// oneStation handles GET /v1/stations/{id}.
func (s *Service) oneStation(c *httpapi.Call) (httpapi.Response, error) {
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st, err := w.stationByID(c, snap, mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	now := s.now()
	reply := air.StationReply{Status: schema.Success, StationEntry: station.Entry(&st.Station, &st.Figures, now), Readings: w.latest(c.Context(), &st.Station)}
	resp := httpapi.Response{Cache: s.cacheControl.At(now)}
	if st.At > 0 {
		at := aggregate.Instant(st.At)
		reply.Hour, resp.Measured = &at, int64(st.Updated)
	}
	resp.Value = reply
	err = (&request.Query{}).SetAge(&resp, now)
	return resp, err
}

// latest returns the latest reading of each parameter of a station. If it cannot read them, it returns nil, so that
// the rest of the answer can be sent.
func (w *worldState) latest(ctx context.Context, st *air.Station) []air.LatestReading {
	if !w.tables.Healthy() {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	rows, err := station.Readings(ctx, w.tables, st)
	if err != nil {
		w.metrics.historyErrors.Inc()
		return nil
	}
	out := make([]air.LatestReading, len(rows))
	for i := range rows {
		out[i] = rows[i].LatestReading
	}
	return out
}
