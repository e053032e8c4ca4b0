package history

import (
	"context"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/station"
	"vayu/schema/air"
)

// StationAnswer answers a query for a station in place of a city or a position. It uses only the figures of the
// station, and returns ErrNoRows if there are none. `city` is the name of the place in records.
func (h *History) StationAnswer(ctx context.Context, q *Query, st *air.Station, city string) (httpapi.Response, error) {
	dated, err := h.StationFigures(ctx, st.ID, q.Account, q.Span, q.Interval == Hours)
	if err != nil {
		return httpapi.Response{}, err
	}
	if len(dated) == 0 {
		return httpapi.Response{}, ErrNoRows
	}
	if q.Interval == OneDay {
		f := &dated[0].Figures
		// `Now` is the time of the figures themselves, so that the record of a past day is never marked as stale.
		return station.Record{City: city, Date: dated[0].Day.String(), Detail: q.Detail, Now: aggregate.Instant(f.Updated)}.Answer(st, f)
	}
	rows := make([]row, len(dated))
	name := "day"
	for i := range dated {
		rows[i] = row{dated[i].Day, dated[i].Figures}
		if q.Interval == Hours {
			rows[i].day, name = hourOnly, "hour"
		}
	}
	return httpapi.Ready(air.AppendStation(rangeBody(city, q.Span, name, rows), st.ID), time.Time{}), nil
}
