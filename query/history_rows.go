package query

import "context"

// rows returns the days or hours of a place, and its name in records. Days of a city
// and hours are cached. Any other read takes one of the account's slots.
func (h *history) rows(ctx context.Context, snap *Snapshot, q *pastQuery) (label string, rows []row, err error) {
	var near []sample
	key := place{point: q.point, kinds: q.kinds}
	if q.city >= 0 {
		label, key = snap.index.Label(q.city), place{city: snap.cities[q.city].City, kinds: q.kinds}
	} else {
		if near = snap.around(q.point, nearestReach, snap.kindsFor(q.kinds)); len(near) == 0 {
			return "", nil, nil
		}
		label = snap.placeName(near[0].station)
	}
	read := func(ctx context.Context, days span) ([]row, error) {
		ctx, cancel := context.WithTimeout(ctx, queryTimeout)
		defer cancel()
		if q.city >= 0 {
			return h.cityRows(ctx, snap, q.city, q.kinds, days, q.interval == Hours)
		}
		return h.positionRows(ctx, snap, near, q.kinds, days, q.interval == Hours)
	}
	slotted := func(ctx context.Context, days span) ([]row, error) {
		release, err := h.slots.acquire(ctx, q.account)
		if err != nil {
			return nil, err
		}
		defer release()
		return read(ctx, days)
	}
	switch {
	case q.interval == Hours:
		rows, err = h.hours.hours(ctx, key, snap.index, q.span, slotted)
	case q.city >= 0 && q.kinds == 0:
		rows, err = read(ctx, q.span)
	default:
		rows, err = slotted(ctx, q.span)
	}
	return label, rows, err
}
