package history

import (
	"context"
	"fmt"

	"vayu/query/aggregate"
	"vayu/query/snapshot"
	"vayu/schema"
)

// Dated has the figures of a place on an Indian day, or in an hour of that day.
type Dated struct {
	Day schema.Day
	aggregate.Figures
}

// Figures returns the days or hours of a place, sorted, and the name of the place in records. It omits days and
// hours without figures. q.Interval must be Days or Hours.
func (h *History) Figures(ctx context.Context, snap *snapshot.Snapshot, q *Query) (label string, all []Dated, err error) {
	limited, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	label, rows, err := h.rows(limited, snap, q)
	for i := range rows {
		d := Dated{rows[i].day, rows[i].Figures}
		if d.Day == hourOnly {
			d.Day = schema.DayOf(aggregate.Instant(d.At))
		}
		all = append(all, d)
	}
	return label, all, err
}

// StationFigures returns the days or hours of a station, sorted. The figures of a day are those of its last hour with
// an AQI, because that AQI covers 24 hours. StationFigures acquires one of the account's slots.
func (h *History) StationFigures(ctx context.Context, station, account string, days Span, hourly bool) (all []Dated, err error) {
	release, err := h.slots.Acquire(ctx, account)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	last := ""
	if !hourly {
		last = ` ORDER BY at DESC LIMIT 1 BY toDate(at - 1, 'Asia/Kolkata')`
	}
	var scanned aggregate.Scanned
	err = h.tables.Each(ctx, scanned.Into(), func() {
		f := scanned.Figures()
		all = append(all, Dated{schema.DayOf(aggregate.Instant(f.At)), f})
	}, fmt.Sprintf(`SELECT %s FROM (SELECT * FROM %s.station_hour FINAL
		WHERE station = {station:String} AND aqi IS NOT NULL
			AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')%s) ORDER BY at`, aggregate.StationFigures, h.tables.Database, last),
		aggregate.Param("station", station), aggregate.Number("from", days.First.Start().Unix()), aggregate.Number("to", days.Last.End().Unix()))
	if err != nil {
		return nil, aggregate.Unavailable(fmt.Errorf("reading the past of %q: %w", station, err))
	}
	return all, nil
}
