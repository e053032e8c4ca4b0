// Package history answers queries about past days and hours. It reads them from
// ClickHouse and caches them in memory.
package history

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
)

// History answers queries about past days and hours of one world (live or sandbox).
type History struct {
	tables    reader
	dayCache  *cache // cached days of cities
	hourCache *cache // cached hours of places
	slots     *Slots
}

// New returns a History with an empty cache. `limit` is the size of the cache in bytes: three
// quarters are for days of cities, and one quarter is for hours of places.
func New(t aggregate.Tables, limit int64, s *Slots, c Counters) (*History, error) {
	h := &History{tables: reader{t}, slots: s}
	var err error
	if h.dayCache, err = newCache(h.tables, limit-limit/4, c); err != nil {
		return nil, err
	}
	h.hourCache, err = newCache(h.tables, limit/4, c)
	return h, err
}

// SetReloadTimeout sets how long a query for cached days waits for a reload of
// changed days. It must be called before the first query.
func (h *History) SetReloadTimeout(d time.Duration) {
	h.dayCache.reloadTimeout, h.hourCache.reloadTimeout = d, d
}

// Invalidate marks the cached rows of the given day and of all later days for a
// reload.
func (h *History) Invalidate(from schema.Day) {
	h.dayCache.invalidate(from)
	h.hourCache.invalidate(from)
}

// Bytes returns the memory that cached rows and their JSON texts use, in bytes.
func (h *History) Bytes() int64 { return h.dayCache.size.Load() + h.hourCache.size.Load() }

// interval is the form of an answer: one day, a list of days, or a list of hours.
type interval uint8

// These are the forms of an answer.
const (
	OneDay interval = iota
	Days
	Hours
)

// Span is a range of days. It includes First and Last.
type Span struct{ First, Last schema.Day }

// Query selects days or hours of a place.
type Query struct {
	City     int // position in Snapshot.Cities, -1 for a query by position
	Point    places.Point
	Pin      int32             // pin code of Point, 0 for none
	Kinds    aggregate.KindSet // kinds of stations that count, 0 for the default kinds
	Span     Span
	Interval interval
	Detail   bool   // with the fields of view=detail; only for OneDay
	Account  string // account whose slots the query uses
}

// ErrNoRows means that a place has no figures in the requested span of days.
var ErrNoRows = errors.New("no figures in the span")

// Answer answers a query for any place and interval. It returns ErrNoRows if there
// are no figures.
func (h *History) Answer(ctx context.Context, snap *snapshot.Snapshot, q *Query) (httpapi.Response, error) {
	limited, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	if q.City >= 0 && q.Kinds == 0 && q.Interval == Days {
		return h.cachedRange(limited, snap, q)
	}
	// Pass ctx, not `limited`: h.rows limits the time of each query itself, and the wait for a slot must not count.
	label, rows, err := h.rows(ctx, snap, q)
	switch {
	case err != nil:
		return httpapi.Response{}, err
	case len(rows) == 0:
		return httpapi.Response{}, ErrNoRows
	case q.Interval == Hours:
		return httpapi.Ready(q.Kinds.AppendTo(rangeBody(label, q.Span, "hour", rows)), time.Time{}), nil
	case q.Interval == Days:
		resp, _ := rangeResponse(label, q.Span, q.Kinds, uncachedBlocks(label, rows))
		return resp, nil
	case q.Detail:
		return h.dayDetail(limited, snap, q, label, &rows[0])
	}
	return httpapi.Ready(q.Kinds.AppendTo(rows[0].append(make([]byte, 0, 280), label)), time.Time{}), nil
}

// cachedRange answers a query for a range of days of a city. It assembles the
// answer from cached blocks.
func (h *History) cachedRange(ctx context.Context, snap *snapshot.Snapshot, q *Query) (httpapi.Response, error) {
	label := snap.Index.Label(q.City)
	p, rows, err := h.dayCache.cityDays(ctx, snap.Cities[q.City].City)
	if err != nil {
		return httpapi.Response{}, aggregate.Unavailable(err)
	}
	blocks := h.dayCache.blocks(ctx, p, rows, label, q.Span, snap.NeighboursOf(q.City))
	resp, ok := rangeResponse(label, q.Span, 0, blocks)
	if !ok {
		return httpapi.Response{}, ErrNoRows
	}
	return resp, nil
}

// dayDetail returns the answer for one day with the fields of view=detail. A day in
// the past is never marked as stale.
func (h *History) dayDetail(
	ctx context.Context, snap *snapshot.Snapshot, q *Query, label string, r *row,
) (httpapi.Response, error) {
	d := snapshot.DetailOf(&r.Figures, aggregate.Instant(r.Updated))
	d.Kinds = q.Kinds.Named()
	if q.Pin != 0 {
		d.Pincode = fmt.Sprint(q.Pin)
	}
	if q.City >= 0 {
		c := &snap.Cities[q.City]
		d.State = c.State
		stations := snap.OfCity(c, snap.KindsFor(q.Kinds))
		if err := h.tables.readHour(ctx, snap, stations, r.At); err != nil {
			return httpapi.Response{}, aggregate.Unavailable(err)
		}
		snap.AddStations(&d, stations)
	}
	body, err := json.Marshal(snapshot.DetailRecord{Record: r.Record(label), Date: r.day.String(), Detail: d})
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Ready(body, time.Time{}), nil
}
