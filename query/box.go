package query

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
)

// box answers a query for the cities in a box with a page of their records, each with its position. A city without a
// record is left out, because the client did not name it.
func (s *Service) box(
	c *httpapi.Call, a *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (resp httpapi.Response, err error) {
	cities, next, err := station.InBox(snap, q, now)
	if err != nil {
		return resp, err
	}
	if err := c.Reserve(int64(len(cities))); err != nil {
		return resp, err
	}
	names := make([]string, len(cities))
	for n, i := range cities {
		names[n] = snap.Index.Label(i)
	}
	if q.Has(request.HasDate) {
		a.preload(c.Context(), snap, names)
	}
	answer := s.answers(c, a, snap, q, names, now)
	b := append(make([]byte, 0, 128+320*len(cities)), `{"status":"success","data":[`...)
	count, oldest := 0, int64(0)
	for n := range names {
		got, err := answer(n)
		if missing(err) {
			continue
		}
		if err != nil {
			return resp, err
		}
		if count++; count > 1 {
			b = append(b, ',')
		}
		b = appendPosition(append(b, got.Body...), snap.Cities[cities[n]].Position)
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
	err = q.CheckAge(&resp, now)
	return resp, err
}

// missing reports whether an error says that a city has no record, or none that is recent enough.
func missing(err error) bool {
	p, ok := errors.AsType[*schema.Problem](err)
	return ok && (p.Code == schema.NoData || p.Code == schema.NoCurrentData)
}

// appendPosition adds the position of a city to the JSON object at the end of b.
func appendPosition(b []byte, p places.Point) []byte {
	lat, lon := places.Degrees(p)
	b = strconv.AppendFloat(append(b[:len(b)-1], `,"latitude":`...), *lat, 'f', -1, 64)
	return append(strconv.AppendFloat(append(b, `,"longitude":`...), *lon, 'f', -1, 64), '}')
}
