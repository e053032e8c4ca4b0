package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/history"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/schema"
)

// past answers a query for a past date or range of days.
func (s *Service) past(c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query) (resp httpapi.Response, err error) {
	h := periodOf(q, c.Account)
	switch {
	case q.Has(request.HasCity):
		h.City, err = snap.Index.Find(q.City)
	case q.Has(request.HasPincode):
		h.Point, err = s.locatePin(c.Context(), q.Pin)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err = w.history.Answer(c.Context(), snap, &h)
	switch {
	case !errors.Is(err, history.ErrNoRows):
		return resp, err
	case h.City >= 0:
		return resp, noData(snap.Index.Label(h.City), q, h.Span)
	}
	return resp, s.noDataNear(c, w, snap, q, &h)
}

// periodOf returns the history query for the days or hours that q selects. The caller must set the field City for a
// query by city, and Point for a query by pin code.
func periodOf(q *request.Query, account string) history.Query {
	h := history.Query{
		City: -1, Point: q.Point, Pin: q.Pin, Kinds: q.Kinds, Span: history.Span{First: q.From, Last: q.To}, Interval: history.Days, Detail: q.Detail, Account: account,
	}
	switch {
	case q.Has(request.HasDate):
		h.Span, h.Interval = history.Span{First: q.Day, Last: q.Day}, history.OneDay
	case q.Hourly:
		h.Interval = history.Hours
	}
	return h
}

// noDataNear returns the problem for a position that has no stations nearby, or no figures in the period. It acquires
// one of the account's slots for concurrent queries of ClickHouse.
func (s *Service) noDataNear(c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, h *history.Query) error {
	release, err := s.historySlots.Acquire(c.Context(), c.Account)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Context(), aggregate.QueryTimeout)
	defer cancel()
	near := snap.Around(h.Point, snapshot.NearestReach, snap.KindsFor(q.Kinds))
	if len(near) == 0 {
		return w.noStationNear(ctx, snap, h.Point, q, time.Time{})
	}
	problem := noData(snap.PlaceName(near[0].Station), q, h.Span)
	if i, km := snap.Nearest(h.Point, func(*snapshot.Station) bool { return true }); i >= 0 {
		w.explain(ctx, snap, problem, aggregate.Sample{Station: i, KM: km}, q, time.Time{})
	}
	return problem
}

func noData(label string, q *request.Query, days history.Span) *schema.Problem {
	field, when := "date", days.First.String()
	if !q.Has(request.HasDate) {
		field, when = "from", fmt.Sprintf("%s to %s", days.First, days.Last)
	}
	switch {
	case q.Has(request.HasPincode):
		label = fmt.Sprintf("the pin code %d (%s)", q.Pin, label)
	case q.Has(request.HasStation):
		label = "the station " + label
	case q.Has(request.HasLat):
		label = fmt.Sprintf("the position (%s)", label)
	}
	return schema.NewProblem(schema.NoData, field, fmt.Sprintf("There is no AQI for %s for %s.", label, when))
}
