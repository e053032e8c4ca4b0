package chart

import (
	"context"
	"fmt"

	"vayu/query/aggregate"
)

// hourMeans summarises the hourly means of a parameter for one hour of the day.
type hourMeans struct {
	hour           int // 0–23, the beginning of the hour on an Indian clock
	mean, low, top float64
	count          int
}

// physical is an SQL expression for the physical station of a row. A physical station can have several ids, but
// counts once in an hour. If several ids have a value, the value of the preferred network counts.
const physical = "transform(toString(station), {stations:Array(String)}, {physical:Array(String)}, '')"

// readDiurnal reads the plain hourly means of a place's stations, grouped by the hour of the day. It returns their
// mean, quartiles and number. The stored AQI follows from 24-hour means, which hide the course of the day.
func readDiurnal(ctx context.Context, t aggregate.Tables, place *place, r *Request) (hours []hourMeans, err error) {
	var (
		hour, count uint64
		row         hourMeans
	)
	err = t.Each(ctx, []any{&hour, &row.mean, &row.low, &row.top, &count}, func() {
		row.hour, row.count = int(hour), int(count)
		hours = append(hours, row)
	}, fmt.Sprintf(`SELECT toUInt64(toHour(at - 3600, 'Asia/Kolkata')) AS hour, avg(amount), quantileExactInclusive(0.25)(amount), quantileExactInclusive(0.75)(amount), count()
		FROM (SELECT %s AS physical, at, argMax(assumeNotNull(mean), (station = physical, station)) AS amount
			FROM %s.station_parameter_hour FINAL
			WHERE station IN {stations:Array(String)} AND parameter = {parameter:String} AND kind = 'concentration' AND mean IS NOT NULL
				AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY physical, at)
		GROUP BY hour ORDER BY hour`, physical, t.Database), arguments(place, r)...)
	if err != nil {
		return nil, fmt.Errorf("reading the course of the day: %w", err)
	}
	return hours, nil
}

// sectors is the number of sectors of a wind rose: N, NNE, … NNW.
const sectors = 16

// sectorMeans summarises the hours in which the wind came from a sector.
type sectorMeans struct {
	sector int // 0 is north, clockwise; -1 for calm hours
	mean   float64
	count  int
}

// calm is the wind speed below which the direction has no meaning, in m/s. It is the threshold of WMO's guide No. 8 for
// cup anemometers (0.5 m/s).
const calm = 0.5

// readRose reads the hourly means of the parameter, grouped by the direction from which the wind came. It uses only
// the hours in which the same station has wind speed, wind direction and the parameter.
func readRose(ctx context.Context, t aggregate.Tables, place *place, r *Request) (all []sectorMeans, err error) {
	var (
		sector int64
		count  uint64
		row    sectorMeans
	)
	err = t.Each(ctx, []any{&sector, &row.mean, &count}, func() {
		row.sector, row.count = int(sector), int(count)
		all = append(all, row)
	}, fmt.Sprintf(`SELECT toInt64(if(speed < %g, -1, intDiv(toUInt32(direction * 2 + 22.5), 45) %% %d)) AS sector, avg(amount), count()
		FROM (SELECT %s AS physical, argMaxIf(assumeNotNull(mean), (station = physical, station), parameter = 'wind_speed') AS speed,
				argMaxIf(assumeNotNull(mean), (station = physical, station), parameter = 'wind_direction') AS direction,
				argMaxIf(assumeNotNull(mean), (station = physical, station), parameter = {parameter:String}) AS amount
			FROM %s.station_parameter_hour FINAL
			WHERE station IN {stations:Array(String)} AND parameter IN ('wind_speed', 'wind_direction', {parameter:String}) AND kind = 'concentration'
				AND mean IS NOT NULL AND at > toDateTime({from:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
			GROUP BY physical, at HAVING uniqExact(parameter) = 3)
		GROUP BY sector ORDER BY sector`, calm, sectors, physical, t.Database), arguments(place, r)...)
	if err != nil {
		return nil, fmt.Errorf("reading the wind: %w", err)
	}
	return all, nil
}

func arguments(place *place, r *Request) []any {
	return []any{
		aggregate.Param("stations", place.Stations), aggregate.Param("physical", place.Physical), aggregate.Param("parameter", r.Parameter.ID()),
		aggregate.Number("from", r.From.Start().Unix()), aggregate.Number("to", r.To.End().Unix()),
	}
}
