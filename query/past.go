package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// past answers a query for a date or a range.
func (s *Service) past(c *httpapi.Call, a *worldState, snap *Snapshot, q *aqiQuery) (resp httpapi.Response, err error) {
	h := pastQuery{
		city: -1, point: q.point, pin: q.pin, kinds: q.kinds, span: span{q.from, q.to}, interval: Days, detail: q.detail, account: c.Account,
	}
	switch {
	case q.has(paramDate):
		h.span, h.interval = span{q.day, q.day}, OneDay
	case q.hourly:
		h.interval = Hours
	}
	switch {
	case q.has(paramCity):
		h.city, err = snap.index.Find(q.city)
	case q.has(paramPincode):
		h.point, err = s.locatePin(c.Context(), q.pin)
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err = a.history.answer(c.Context(), snap, &h)
	switch {
	case !errors.Is(err, errNoRows):
		return resp, err
	case h.city >= 0:
		return resp, noData(snap.index.Label(h.city), q, h.span)
	}
	return resp, s.noDataNear(c, a, snap, q, &h)
}

// noDataNear returns the problem for a position without stations nearby, or without
// figures in the period. It takes one of the account's slots.
func (s *Service) noDataNear(c *httpapi.Call, a *worldState, snap *Snapshot, q *aqiQuery, h *pastQuery) error {
	release, err := s.historySlots.acquire(c.Context(), c.Account)
	if err != nil {
		return err
	}
	defer release()
	ctx, cancel := context.WithTimeout(c.Context(), queryTimeout)
	defer cancel()
	near := snap.around(h.point, nearestReach, snap.kindsFor(q.kinds))
	if len(near) == 0 {
		return a.noStationNear(ctx, snap, h.point, q, time.Time{})
	}
	problem := noData(snap.placeName(near[0].station), q, h.span)
	if i, km := snap.nearest(h.point, func(*station) bool { return true }); i >= 0 {
		a.explain(ctx, snap, problem, sample{station: i, km: km}, q, time.Time{})
	}
	return problem
}

func noData(label string, q *aqiQuery, days span) *schema.Problem {
	field, when := "date", days.first.String()
	if !q.has(paramDate) {
		field, when = "from", fmt.Sprintf("%s to %s", days.first, days.last)
	}
	if q.has(paramPincode) {
		label = fmt.Sprintf("the pin code %d (%s)", q.pin, label)
	} else if q.has(paramLat) {
		label = fmt.Sprintf("the position (%s)", label)
	}
	return schema.NewProblem(schema.NoData, field, fmt.Sprintf("There are no figures for %s for %s.", label, when))
}
