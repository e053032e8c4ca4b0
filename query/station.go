package query

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/history"
	"vayu/query/param"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
)

// stationAQI answers a query for a station, which is public or one of the account's own.
func (w *worldState) stationAQI(c *httpapi.Call, snap *snapshot.Snapshot, q *request.Query, now time.Time) (httpapi.Response, error) {
	st, err := w.stationByID(c, snap, q.Station)
	if err != nil {
		return httpapi.Response{}, withField(err, "station")
	}
	city := w.placeOf(snap, &st.Station)
	if !q.Current() {
		h := periodOf(q, c.Account)
		resp, err := w.history.StationAnswer(c.Context(), &h, &st.Station, city)
		if errors.Is(err, history.ErrNoRows) {
			err = noData(st.ID, q, h.Span)
		}
		return resp, err
	}
	if st.AQI < 0 {
		return httpapi.Response{}, w.noStationAQI(c.Context(), snap, &st.Station, q, now)
	}
	resp, err := station.Record{City: city, Detail: q.Detail, Now: now}.Answer(&st.Station, &st.Figures)
	resp.Measured = int64(st.Updated)
	return resp, err
}

// placeOf returns the name of a station's place in replies: the city, or if it is unknown, the station itself.
func (w *worldState) placeOf(snap *snapshot.Snapshot, st *air.Station) string {
	if i, ok := snap.ByID[st.ID]; ok {
		return snap.PlaceName(i)
	}
	return cmp.Or(st.City, st.Name)
}

// noStationAQI returns the error for a station that has no AQI. For a public station the error states the reason.
func (w *worldState) noStationAQI(ctx context.Context, snap *snapshot.Snapshot, st *air.Station, q *request.Query, now time.Time) error {
	problem := schema.NewProblem(schema.NoData, "station", "There is no AQI for the station "+st.ID+" yet.")
	if i, ok := snap.ByID[st.ID]; ok {
		w.explain(ctx, snap, problem, aggregate.Sample{Station: i, KM: -1}, q, now)
	}
	return problem
}

// qualityDays is the default range of GET /v1/stations/{id}/quality, in days.
const qualityDays = 7

// stationQuality handles GET /v1/stations/{id}/quality.
func (s *Service) stationQuality(c *httpapi.Call) (httpapi.Response, error) {
	if err := param.Texts(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	days, err := history.ParseOptionalSpan(c.Params, qualityDays, schema.DayOf(s.now()))
	if err != nil {
		return httpapi.Response{}, err
	}
	w, snap, err := s.snapshotOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	st, err := w.stationByID(c, snap, mux.Vars(c.Request)["id"])
	if err != nil {
		return httpapi.Response{}, err
	}
	page := station.QualityPage{Station: st.ID, From: days.First, To: days.Last}
	if err := page.Parse(c.Params); err != nil {
		return httpapi.Response{}, err
	}
	ctx, cancel := context.WithTimeout(c.Context(), aggregate.QueryTimeout)
	defer cancel()
	reply, err := station.Quality(ctx, w.tables, page)
	if err != nil {
		return httpapi.Response{}, aggregate.Unavailable(err)
	}
	return httpapi.Response{Value: reply, Cache: s.cacheControl.At(s.now())}, nil
}
