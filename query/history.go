package query

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
)

// history answers queries about past days and hours of one world.
type history struct {
	tables reader
	days   *cache // of cities
	hours  *cache // of places
	slots  *slots
}

// newHistory returns a history without cached rows. limit bounds the cache in bytes:
// three quarters are for days, one quarter for hours.
func newHistory(t tables, limit int64, s *slots, c counters) (*history, error) {
	h := &history{tables: reader{t}, slots: s}
	var err error
	if h.days, err = newCache(h.tables, limit-limit/4, c); err != nil {
		return nil, err
	}
	h.hours, err = newCache(h.tables, limit/4, c)
	return h, err
}

// setReloadTimeout bounds how long a query for cached days waits for newer ones. It
// is called before the first query.
func (h *history) setReloadTimeout(d time.Duration) {
	h.days.reloadTimeout, h.hours.reloadTimeout = d, d
}

// invalidate marks the cached rows of a day and of all later ones for a reload.
func (h *history) invalidate(from schema.Day) {
	h.days.invalidate(from)
	h.hours.invalidate(from)
}

// bytes returns the memory that cached rows use.
func (h *history) bytes() int64 { return h.days.size.Load() + h.hours.size.Load() }

// preload loads the days of a city into the cache. It ignores errors, because the
// answer for the city loads missing days again.
func (h *history) preload(ctx context.Context, c places.City) { _, _, _ = h.days.cityDays(ctx, c) }

// interval is the form of an answer.
type interval uint8

// The intervals: a record of one day, a list of days, a list of hours.
const (
	OneDay interval = iota
	Days
	Hours
)

// pastQuery selects days or hours of a place.
type pastQuery struct {
	city     int // in the snapshot, -1 for a position
	point    places.Point
	pin      int32   // of the point, 0 for none
	kinds    kindSet // of stations that count, 0 for the default kinds
	span     span
	interval interval
	detail   bool   // of one day
	account  string // whose slots the query takes
}

// errNoRows reports that a place has no figures in the span.
var errNoRows = errors.New("no figures in the span")

// answer answers a query, by one route for every place and interval. Its error is
// errNoRows if there are no figures.
func (h *history) answer(ctx context.Context, snap *Snapshot, q *pastQuery) (httpapi.Response, error) {
	limited, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	if q.city >= 0 && q.kinds == 0 && q.interval == Days {
		return h.cachedRange(limited, snap, q)
	}
	label, rows, err := h.rows(ctx, snap, q)
	switch {
	case err != nil:
		return httpapi.Response{}, err
	case len(rows) == 0:
		return httpapi.Response{}, errNoRows
	case q.interval == Hours:
		return httpapi.Ready(q.kinds.appendTo(hoursBody(label, q.span, rows)), time.Time{}), nil
	case q.interval == Days:
		resp, _ := rangeResponse(label, q.span, q.kinds, uncachedBlocks(label, rows))
		return resp, nil
	case q.detail:
		return h.dayDetail(limited, snap, q, label, &rows[0])
	}
	return httpapi.Ready(q.kinds.appendTo(rows[0].append(make([]byte, 0, 280), label)), time.Time{}), nil
}

// cachedRange answers a query for days of a city from rendered blocks.
func (h *history) cachedRange(ctx context.Context, snap *Snapshot, q *pastQuery) (httpapi.Response, error) {
	label := snap.index.Label(q.city)
	p, rows, err := h.days.cityDays(ctx, snap.cities[q.city].City)
	if err != nil {
		return httpapi.Response{}, unavailable(err)
	}
	blocks := h.days.blocks(ctx, p, rows, label, q.span, snap.neighboursOf(q.city))
	resp, ok := rangeResponse(label, q.span, 0, blocks)
	if !ok {
		return httpapi.Response{}, errNoRows
	}
	return resp, nil
}

// dayDetail returns the detailed answer for one day, which never becomes stale.
func (h *history) dayDetail(
	ctx context.Context, snap *Snapshot, q *pastQuery, label string, r *row,
) (httpapi.Response, error) {
	d := detailOf(&r.figures, instant(r.updated))
	d.Kinds = q.kinds.named()
	if q.pin != 0 {
		d.Pincode = fmt.Sprint(q.pin)
	}
	if q.city >= 0 {
		c := &snap.cities[q.city]
		d.State = c.State
		stations := snap.ofCity(c, snap.kindsFor(q.kinds))
		if err := h.tables.readHour(ctx, snap, stations, r.at); err != nil {
			return httpapi.Response{}, unavailable(err)
		}
		snap.addStations(&d, stations)
	}
	body, err := json.Marshal(detailRecord{Record: r.record(label), Date: r.day.String(), Detail: d})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Ready(body, time.Time{}), nil
}
