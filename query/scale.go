package query

import (
	"context"
	"maps"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/history"
	"vayu/query/request"
	"vayu/query/scales"
	"vayu/query/snapshot"
	"vayu/schema/air"
)

// scaled answers a query for one place. The answer has the index of the place on the scale that the query names.
func (s *Service) scaled(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (resp httpapi.Response, err error) {
	if q.Has(request.HasFrom) {
		return s.scaledRange(c, w, snap, q)
	}
	w.scaled.Prepare(snap, q, now, func(cities []string) {
		answer := s.answers(c, w, snap, &request.Query{Scale: q.Scale}, cities, now)
		for n := range cities {
			_, _ = answer(n) // only fills the cache; a query for the city returns the error
		}
	})
	u := s.unscaled(c, w, snap, q, now)
	scales.AddMeans([]*scales.Unscaled{u}, q.Scale, s.meansOf(c, w))
	return u.Answer(&w.scaled, snap, q.Scale)
}

// answers returns a function that returns the answer for the nth of several cities. If the query names a scale that
// needs hourly means, answers reads the means of all cities together before it returns.
func (s *Service) answers(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, names []string, now time.Time,
) func(n int) (httpapi.Response, error) {
	if q.Scale == 0 {
		return func(n int) (httpapi.Response, error) {
			one := q.One(names[n])
			return s.answerPlace(c, w, snap, &one, now)
		}
	}
	all, of := make([]*scales.Unscaled, len(names)), map[int]*scales.Unscaled{}
	for n, name := range names {
		i, err := snap.Index.Find(name)
		if all[n] = of[i]; err != nil || all[n] == nil {
			one := q.One(name)
			all[n] = s.unscaled(c, w, snap, &one, now)
		}
		if err == nil {
			of[i] = all[n]
		}
	}
	scales.AddMeans(slices.Collect(maps.Values(of)), q.Scale, s.meansOf(c, w))
	return func(n int) (httpapi.Response, error) { return all[n].Answer(&w.scaled, snap, q.Scale) }
}

// unscaled answers a query for one place without the index on the scale that the query names. If the cache has the
// answer with that index, unscaled returns the cached answer.
func (s *Service) unscaled(c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time) *scales.Unscaled {
	u := w.scaled.Lookup(snap, q, now)
	if u.Whole || u.Err != nil {
		return u
	}
	if u.Resp, u.Err = s.answerPlace(c, w, snap, q, now); u.Err != nil {
		return u
	}
	if u.Record, u.Place.Stations, u.Err = s.figuresOf(c, w, snap, q, now); u.Err != nil {
		return u
	}
	u.Place.To = int64(u.Record.Figures.At)
	if u.Record.Daily {
		u.Place.To = u.Record.Day.End().Unix()
	}
	u.Place.After = u.Place.To - 24*3600
	return u
}

// meansOf returns a function that reads the hourly means of places. The function acquires one of the account's slots
// for concurrent queries of ClickHouse.
func (s *Service) meansOf(c *httpapi.Call, w *worldState) func([]scales.Place) ([]scales.Means, error) {
	return func(of []scales.Place) ([]scales.Means, error) {
		release, err := s.historySlots.Acquire(c.Context(), c.Account)
		if err != nil {
			return nil, err
		}
		defer release()
		got, err := scales.Read(c.Context(), w.tables, of)
		return got, aggregate.Unavailable(err)
	}
}

// figuresOf returns the figures of the record that answers a query for one place, now or on a day. It also returns
// the stations of the place.
func (s *Service) figuresOf(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query, now time.Time,
) (r scales.Record, of scales.Stations, err error) {
	if !q.Current() {
		var dated []history.Dated
		if _, dated, of, err = s.pastOf(c, w, snap, q); err == nil {
			r = scales.Record{Figures: &dated[0].Figures, Day: dated[0].Day, Daily: true}
		}
		return r, of, err
	}
	if q.Has(request.HasStation) {
		st, err := w.stationByID(c, snap, q.Station)
		if err != nil {
			return r, of, withField(err, "station")
		}
		return scales.Record{Figures: &st.Figures}, scales.Stations{IDs: []string{st.ID}, Weights: []float64{1}}, nil
	}
	r.Figures = new(aggregate.Figures)
	if of, err = s.stationsOf(c.Context(), snap, q); err != nil {
		return r, of, err
	}
	if !q.Has(request.HasCity) {
		*r.Figures, _, _ = snap.Interpolate(q.Point, snap.KindsFor(q.Kinds))
		return r, of, nil
	}
	i, err := snap.Index.Find(q.City)
	if err == nil && q.Kinds != 0 {
		*r.Figures, _, _, err = snap.CurrentOfKinds(c.Context(), w.tables, i, q.Kinds, now)
	} else if err == nil {
		r.Figures = &snap.Cities[i].Figures
	}
	return r, of, err
}

// stationsOf returns the stations of a city, or those from which the figures of a position follow: all within
// InterpolationReach, or else the nearest within NearestReach. If q has a pin code, stationsOf sets q.Point.
func (s *Service) stationsOf(ctx context.Context, snap *snapshot.Snapshot, q *request.Query) (of scales.Stations, err error) {
	kinds := snap.KindsFor(q.Kinds)
	if q.Has(request.HasCity) {
		i, err := snap.Index.Find(q.City)
		if err != nil {
			return of, err
		}
		return scales.StationsOf(snap, snap.OfCity(&snap.Cities[i], kinds)), nil
	}
	if q.Has(request.HasPincode) {
		if q.Point, err = s.locatePin(ctx, q.Pin); err != nil {
			return of, err
		}
	}
	near := snap.Around(q.Point, snapshot.InterpolationReach, kinds)
	if len(near) == 0 {
		near = snap.Around(q.Point, snapshot.NearestReach, kinds)
		near = near[:min(len(near), 1)]
	}
	return scales.StationsOf(snap, near), nil
}

// pastOf returns the days or hours of a place, its name in records, and its stations.
func (s *Service) pastOf(
	c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query,
) (label string, dated []history.Dated, of scales.Stations, err error) {
	h := periodOf(q, c.Account)
	if h.Interval == history.OneDay {
		h.Interval = history.Days
	}
	if q.Has(request.HasStation) {
		st, err := w.stationByID(c, snap, q.Station)
		if err != nil {
			return "", nil, of, withField(err, "station")
		}
		label, of = w.placeOf(snap, &st.Station), scales.Stations{IDs: []string{st.ID}, Weights: []float64{1}}
		dated, err = w.history.StationFigures(c.Context(), st.ID, c.Account, h.Span, q.Hourly)
		if err == nil && len(dated) == 0 {
			err = noData(st.ID, q, h.Span)
		}
		return label, dated, of, err
	}
	if of, err = s.stationsOf(c.Context(), snap, q); err != nil {
		return "", nil, of, err
	}
	if h.Point = q.Point; q.Has(request.HasCity) {
		h.City, err = snap.Index.Find(q.City)
	}
	if err == nil {
		label, dated, err = w.history.Figures(c.Context(), snap, &h)
	}
	switch {
	case err != nil || len(dated) > 0:
	case h.City >= 0:
		err = noData(label, q, h.Span)
	default:
		err = s.noDataNear(c, w, snap, q, &h)
	}
	return label, dated, of, err
}

// scaledRange answers a query for a range of days or hours. Each record has its index on the scale that q names.
func (s *Service) scaledRange(c *httpapi.Call, w *worldState, snap *snapshot.Snapshot, q *request.Query) (resp httpapi.Response, err error) {
	label, dated, of, err := s.pastOf(c, w, snap, q)
	if err != nil {
		return resp, err
	}
	days := history.Span{First: q.From, Last: q.To}
	var means scales.Means
	if q.Scale.Hourly() {
		all, err := s.meansOf(c, w)([]scales.Place{{Stations: of, After: days.First.Start().Unix() - 24*3600, To: days.Last.End().Unix()}})
		if err != nil {
			return resp, err
		}
		means = all[0]
	}
	body, err := history.AppendRange(make([]byte, 0, 160+1000*len(dated)), label, days, q.Hourly, dated, func(b []byte, d *history.Dated) ([]byte, error) {
		r := scales.Record{Figures: &d.Figures, Means: means, Day: d.Day, Daily: !q.Hourly, Short: true}
		return r.AppendTo(b, q.Scale)
	})
	if err == nil {
		body, err = scales.AppendRange(body, q.Scale)
	}
	if err != nil {
		return resp, err
	}
	if q.Has(request.HasStation) {
		body = air.AppendStation(body, of.IDs[0])
	}
	return httpapi.Ready(q.Kinds.AppendTo(body), time.Time{}), nil
}
