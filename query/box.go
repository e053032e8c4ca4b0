package query

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
)

// box answers a query for the cities in a box with a page of their records. If the query is for current records, and
// selects no kinds, scale or detail, the page depends only on the snapshot, and is cached.
func (s *Service) box(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (httpapi.Response, error) {
	if !q.Current() || q.Kinds != 0 || q.Scale != 0 || q.Detail {
		return s.boxPage(c, w, snap, q, now, c.Reserve)
	}
	resp, err := w.page(c, snap, now, func() (httpapi.Response, error) {
		return s.boxPage(c, w, snap, q, now, func(int64) error { return nil }) // reserved below: accounts share the page
	})
	if err == nil {
		err = q.SetAge(&resp, now) // the page may be a few seconds old
	}
	if err != nil {
		return resp, err
	}
	c.Count = int64(max(station.Positions(resp.Body), 1))
	return resp, c.Reserve(c.Count)
}

// boxPage renders a page of the records of the cities in a box, each with its position. It leaves out cities without
// a record, because the client did not name them. `reserve` reserves quota for the cities of the page.
func (s *Service) boxPage(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time, reserve func(int64) error,
) (resp httpapi.Response, err error) {
	cities, next, err := station.InBox(snap, q, now)
	if err != nil {
		return resp, err
	}
	if err := reserve(int64(len(cities))); err != nil {
		return resp, err
	}
	names := make([]string, len(cities))
	for n, i := range cities {
		names[n] = snap.Index.Label(i)
	}
	if q.Has(request.HasDate) {
		w.preload(c.Context(), snap, names)
	}
	answer := s.answers(c, w, snap, q, names, now)
	b := append(make([]byte, 0, 128+320*len(cities)), `{"status":"success","data":[`...)
	count, oldest := 0, int64(0)
	for n := range names {
		got, err := answer(n)
		if p, ok := errors.AsType[*schema.Problem](err); ok && (p.Code == schema.NoData || p.Code == schema.NoCurrentData) {
			continue // no record, or none that is recent enough
		}
		if err != nil {
			return resp, err
		}
		if count++; count > 1 {
			b = append(b, ',')
		}
		b = station.AppendPosition(append(b, got.Body...), snap.Cities[cities[n]].Position)
		if oldest == 0 || got.Measured < oldest {
			oldest = got.Measured
		}
	}
	c.Count = int64(max(count, 1))
	cursor, err := json.Marshal(next)
	if err != nil {
		return resp, err
	}
	b = strconv.AppendBool(append(b, `],"has_more":`...), next != nil)
	b = append(append(append(b, `,"next_cursor":`...), cursor...), '}')
	resp = httpapi.Ready(q.Kinds.AppendTo(b), time.Time{})
	resp.Measured = oldest
	err = q.SetAge(&resp, now)
	return resp, err
}
