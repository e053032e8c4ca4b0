package query

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/request"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

// bulk answers a query for several cities. The results are in the order of the cities in the query.
func (s *Service) bulk(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (httpapi.Response, error) {
	names, err := q.Names()
	if err != nil {
		return httpapi.Response{}, err
	}
	if err := c.Reserve(int64(len(names))); err != nil {
		return httpapi.Response{}, err
	}
	c.Count = int64(len(names))
	if q.Has(request.HasDate) {
		w.preload(c.Context(), snap, names)
	}
	answer := s.answers(c, w, snap, q, names, now)
	b := make([]byte, 0, 64+256*len(names))
	b = append(b, `{"status":"success","count":`...)
	b = strconv.AppendInt(b, int64(len(names)), 10)
	b = append(b, `,"results":[`...)
	oldest := int64(0)
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		resp, err := answer(i)
		if err == nil {
			b = append(b, resp.Body...)
			if oldest == 0 || resp.Measured < oldest {
				oldest = resp.Measured
			}
		} else if b, err = appendProblem(b, name, err); err != nil {
			return httpapi.Response{}, err
		}
	}
	resp := httpapi.Ready(q.Kinds.AppendTo(append(b, "]}"...)), time.Time{})
	resp.Measured = oldest
	err = q.SetAge(&resp, now)
	return resp, err
}

// appendProblem appends a problem (an error for the client) as the result of a city, and returns any other error.
func appendProblem(b []byte, name string, err error) ([]byte, error) {
	var p *schema.Problem
	if !errors.As(err, &p) {
		return b, err
	}
	if p.Field == "city" { // the client sent the parameter `cities`
		errors.As(withField(p, "cities"), &p)
	}
	text, err := json.Marshal(air.BulkError{Status: "error", City: name, Error: *p})
	return append(b, text...), err
}

// preload loads the histories of several cities into the cache with only a few queries.
func (w *worldState) preload(ctx context.Context, snap *snapshot.Snapshot, names []string) {
	var cities []places.City
	for _, name := range names {
		if i, err := snap.Index.Find(name); err == nil && !slices.Contains(cities, snap.Cities[i].City) {
			cities = append(cities, snap.Cities[i].City)
		}
	}
	w.history.Preload(ctx, cities)
}

// withField returns a copy of a problem with the Field `field`. It returns other errors unchanged.
func withField(err error, field string) error {
	var p *schema.Problem
	if !errors.As(err, &p) {
		return err
	}
	named := *p
	named.Field = field
	return &named
}
