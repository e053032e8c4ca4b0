package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/history"
	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema"
)

// past answers a query for a past date or range of days.
func (s *Service) past(c *httpapi.Call, a *worldState, snap *snapshot.Snapshot, q *aqiQuery) (resp httpapi.Response, err error) {
	h := q.period(c.Account)
	switch {
	case q.has(paramCity):
		h.City, err = snap.Index.Find(q.city)
	case q.has(paramPincode):
		h.Point, err = s.locatePin(c.Context(), q.pin)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err = a.history.Answer(c.Context(), snap, &h)
	switch {
	case !errors.Is(err, history.ErrNoRows):
		return resp, err
	case h.City >= 0:
		return resp, noData(snap.Index.Label(h.City), q, h.Span)
	}
	return resp, s.noDataNear(c, a, snap, q, &h)
}

// period returns the query for the days or hours that an account asks for. Its place is a position.
func (q *aqiQuery) period(account string) history.Query {
	h := history.Query{
		City: -1, Point: q.point, Pin: q.pin, Kinds: q.kinds, Span: history.Span{First: q.from, Last: q.to}, Interval: history.Days, Detail: q.detail, Account: account,
	}
	switch {
	case q.has(paramDate):
		h.Span, h.Interval = history.Span{First: q.day, Last: q.day}, history.OneDay
	case q.hourly:
		h.Interval = history.Hours
	}
	return h
}

// noDataNear returns the problem for a position that has no stations nearby, or no figures in the period. It takes one
// of the account's slots, because it queries ClickHouse.
func (s *Service) noDataNear(c *httpapi.Call, a *worldState, snap *snapshot.Snapshot, q *aqiQuery, h *history.Query) error {
	release, err := s.historySlots.Acquire(c.Context(), c.Account)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Context(), rollup.QueryTimeout)
	defer cancel()
	near := snap.Around(h.Point, snapshot.NearestReach, snap.KindsFor(q.kinds))
	if len(near) == 0 {
		return a.noStationNear(ctx, snap, h.Point, q, time.Time{})
	}
	problem := noData(snap.PlaceName(near[0].Station), q, h.Span)
	if i, km := snap.Nearest(h.Point, func(*snapshot.Station) bool { return true }); i >= 0 {
		a.explain(ctx, snap, problem, rollup.Sample{Station: i, KM: km}, q, time.Time{})
	}
	return problem
}

func noData(label string, q *aqiQuery, days history.Span) *schema.Problem {
	field, when := "date", days.First.String()
	if !q.has(paramDate) {
		field, when = "from", fmt.Sprintf("%s to %s", days.First, days.Last)
	}
	switch {
	case q.has(paramPincode):
		label = fmt.Sprintf("the pin code %d (%s)", q.pin, label)
	case q.has(paramStation):
		label = "the station " + label
	case q.has(paramLat):
		label = fmt.Sprintf("the position (%s)", label)
	}
	return schema.NewProblem(schema.NoData, field, fmt.Sprintf("There is no AQI for %s for %s.", label, when))
}
