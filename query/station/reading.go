// Package station reads the latest readings and the quality results of a station from ClickHouse. It also renders the
// record of a station, and the lists of stations and cities.
package station

import (
	"context"
	"fmt"
	"time"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// readingWindow limits the search for the latest reading of a parameter, counted back from the station's latest
// reading. So the search reads only two or three monthly partitions of the table.
const readingWindow = 31 * 24 * time.Hour

// Reading is the latest reading of a parameter. Hours is how many of the 24 hours before the station's latest reading
// have data: the number of hours with a reading or, if that is larger, the hours of the longest averaging interval.
type Reading struct {
	air.LatestReading
	Hours uint64
}

// Whole reports whether the parameter has enough hours of data for a sub-index: at least 16 of 24. If the source
// published the sub-index itself, Whole returns true.
func (r *Reading) Whole() bool {
	return r.Hours >= 16 || r.Kind == air.SubIndex.String()
}

// Readings reads the latest reading of each parameter of a station, sorted by name.
func Readings(ctx context.Context, t aggregate.Tables, station *air.Station) ([]Reading, error) {
	var (
		out []Reading
		row Reading
		at  uint32
	)
	err := t.Each(ctx, []any{&row.Parameter, &at, &row.Value, &row.Kind, &row.Averaging, &row.Hours}, func() {
		row.At, row.Unit = aggregate.Instant(at), ""
		if p, ok := parameter.Parse(row.Parameter); ok && row.Kind == air.Concentration.String() {
			row.Unit = p.Unit()
		}
		out = append(out, row)
	}, fmt.Sprintf(`WITH recent AS (
				SELECT parameter, toUInt32(at) AS ended, value, toString(kind) AS what, averaging,
					(at, what = 'concentration', -toInt32(averaging)) AS rank
				FROM %[1]s.reading FINAL
				WHERE station = {station:String} AND at > toDateTime({from:Int64}, 'UTC')),
			(SELECT max(ended) FROM recent) AS newest
			SELECT parameter, max(ended), argMax(value, rank), argMax(what, rank), argMax(averaging, rank),
				greatest(uniqExactIf(intDiv(ended + %[2]d, 3600), ended + 86400 > newest),
					toUInt64(maxIf(intDiv(averaging, 60), ended + 86400 > newest)))
			FROM recent GROUP BY parameter ORDER BY parameter`, t.Database, int(schema.IndiaOffset.Seconds())+3599),
		aggregate.Param("station", station.ID), aggregate.Number("from", station.LastSeen.Add(-readingWindow).Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading the latest values of %q: %w", station.ID, err)
	}
	return out, nil
}
