package query

import (
	"context"
	"fmt"
	"time"

	"vayu/schema"
	"vayu/schema/parameter"
)

// readingWindow is how far back the latest reading of a parameter is looked for,
// from the latest reading of the station: two of the table's monthly partitions.
const readingWindow = 31 * 24 * time.Hour

// parameterReading is the latest reading of a parameter, and in how many of the 24
// hours before the latest reading of the station there is one.
type parameterReading struct {
	schema.LatestReading
	hours uint64
}

// whole reports whether the parameter has the 16 of 24 hours that a sub-index
// needs; a sub-index from the source needs none.
func (r *parameterReading) whole() bool {
	return r.hours >= 16 || r.Kind == schema.SubIndex.String()
}

// readings reads the latest reading of each parameter of a station, by name. It is
// the only place here that names the columns of reading.
func (t tables) readings(ctx context.Context, station *schema.Station) ([]parameterReading, error) {
	var (
		out []parameterReading
		row parameterReading
		at  uint32
	)
	err := t.each(ctx, []any{&row.Parameter, &at, &row.Value, &row.Kind, &row.Averaging, &row.hours}, func() {
		row.At, row.Unit = instant(at), ""
		if p, ok := parameter.Parse(row.Parameter); ok && row.Kind == schema.Concentration.String() {
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
			FROM recent GROUP BY parameter ORDER BY parameter`, t.database, int(schema.IndiaOffset.Seconds())+3599),
		param("station", station.ID), number("from", station.LastSeen.Add(-readingWindow).Unix()))
	if err != nil {
		return nil, fmt.Errorf("reading the latest values of %q: %w", station.ID, err)
	}
	return out, nil
}
