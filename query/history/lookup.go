package history

import (
	"context"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/snapshot"
)

// rows returns the days or hours of a place, and the name of the place in records. Caches have hours of any place, and
// days of cities for the default kinds of stations. To read other hours and days, `rows` acquires a slot.
func (h *History) rows(ctx context.Context, snap *snapshot.Snapshot, q *Query) (label string, rows []row, err error) {
	var near []aggregate.Sample
	key := place{point: q.Point, kinds: q.Kinds}
	if q.City >= 0 {
		label, key = snap.Index.Label(q.City), place{city: snap.Cities[q.City].City, kinds: q.Kinds}
	} else {
		if near = snap.Around(q.Point, snapshot.NearestReach, snap.KindsFor(q.Kinds)); len(near) == 0 {
			return "", nil, nil
		}
		label = snap.PlaceName(near[0].Station)
	}
	read := func(ctx context.Context, days Span) ([]row, error) {
		ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
		defer cancel()
		if q.City >= 0 {
			return h.cityRows(ctx, snap, q.City, q.Kinds, days, q.Interval == Hours)
		}
		return h.positionRows(ctx, snap, near, q.Kinds, days, q.Interval == Hours)
	}
	slotted := func(ctx context.Context, days Span) ([]row, error) {
		release, err := h.slots.Acquire(ctx, q.Account)
		if err != nil {
			return nil, err
		}
		defer release()
		return read(ctx, days)
	}
	switch {
	case q.Interval == Hours:
		rows, err = h.hourCache.hours(ctx, key, snap.Index, q.Span, slotted)
	case q.City >= 0 && q.Kinds == 0:
		rows, err = read(ctx, q.Span)
	default:
		rows, err = slotted(ctx, q.Span)
	}
	return label, rows, err
}

// cityRows returns a city's days or hours. For the default kinds of stations (`kinds` is 0), these are stored figures
// of the city, and days come from the cache. For other kinds, it computes the figures from those of the stations.
func (h *History) cityRows(
	ctx context.Context, snap *snapshot.Snapshot, i int, kinds aggregate.KindSet, days Span, hourly bool,
) ([]row, error) {
	c := &snap.Cities[i]
	if kinds != 0 {
		return h.tables.cityRowsOfKinds(ctx, snap, i, kinds, days, hourly)
	}
	if !hourly {
		p, rows, err := h.dayCache.cityDays(ctx, c.City)
		if err != nil {
			return nil, aggregate.Unavailable(err)
		}
		rows, _ = h.dayCache.filled(ctx, p, between(rows, days), snap.NeighboursOf(i))
		return rows, nil
	}
	rows, err := h.tables.cityHours(ctx, c.City, days)
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	return rows, aggregate.Unavailable(gapfill.Fill(ctx, h.tables.Tables, snap.NeighboursOf(i)(), pointers(rows)))
}
