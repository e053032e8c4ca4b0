package ranking

import (
	"context"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
)

// dayFigures is the query for a day. It reads the AQI of each city on that day, and the number of hours with an AQI.
const dayFigures = `SELECT city, state, toFloat64(aqi), toUInt32(stations_used), toUInt32(hours)
	FROM (SELECT city, state, aqi, stations_used FROM %[1]s.city_day FINAL WHERE day = toDate({first:Int32})) AS days
	INNER JOIN (SELECT city, state, count() AS hours FROM %[1]s.city_hour FINAL
		WHERE at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC') GROUP BY city, state) AS counts USING (city, state)`

// meanFigures is the query for a month or year. It reads the mean AQI of the days, and the number of days with an AQI.
const meanFigures = `SELECT city, state, avg(aqi), toUInt32(max(stations_used)), toUInt32(count()) FROM %[1]s.city_day FINAL
	WHERE day >= toDate({first:Int32}) AND day <= toDate({last:Int32}) GROUP BY city, state`

// pollutantFigures is the query for a pollutant. It reads the view ranking, which has only cities with enough coverage.
const pollutantFigures = `SELECT city, state, mean, toUInt32(stations), toUInt32(hours), toUInt32(expected_hours) FROM %[1]s.ranking
	WHERE year = toYear(toDate({first:Int32})) AND parameter = {parameter:String}
	SETTINGS distributed_product_mode = 'global'`

// read reads the figures of the cities in the period of the ranking, which is past or still runs.
func (r *Request) read(ctx context.Context, t aggregate.Tables, now time.Time) (all []figure, err error) {
	var f figure
	dest := []any{&f.city.Name, &f.city.State, &f.value, &f.stations, &f.count}
	query := meanFigures
	f.expected = uint32(r.last-r.first) + 1
	switch {
	case r.parameter != index:
		query, dest = pollutantFigures, append(dest, &f.expected)
	case r.period == daily:
		query, f.expected = dayFigures, hoursOf(r.first, now)
	}
	err = t.Each(ctx, dest, func() { all = append(all, f) }, t.SQL(query),
		aggregate.Number("first", int32(r.first)), aggregate.Number("last", int32(r.last)),
		aggregate.Number("from", r.first.Start().Unix()), aggregate.Number("to", r.last.End().Unix()), aggregate.Param("parameter", r.parameter))
	return all, err
}

// hoursOf returns the number of hours of a day that have ended, but at least 1.
func hoursOf(day schema.Day, now time.Time) uint32 {
	return uint32(min(max(now.Sub(day.Start())/time.Hour, 1), 24))
}
