package scales

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"vayu/query/rollup"
	"vayu/query/snapshot"
	"vayu/schema/air"
	"vayu/schema/scale"
)

// Stations are the stations whose hourly means are those of a place. Weights has the weight of each.
type Stations struct {
	IDs     []string
	Weights []float64
}

// StationsOf returns the stations of samples. A sample without a weight counts as one. It leaves out the same stations
// as a record of the place. It takes at most as many stations as one query can name, and overwrites the slice.
func StationsOf(snap *snapshot.Snapshot, samples []rollup.Sample) Stations {
	samples = snap.PreferStations(samples)
	samples = samples[:min(len(samples), rollup.MaxStationsPerQuery)]
	out := Stations{IDs: snap.StationIDs(samples), Weights: make([]float64, len(samples))}
	for i, sm := range samples {
		if out.Weights[i] = sm.Weight; sm.Weight == 0 {
			out.Weights[i] = 1
		}
	}
	return out
}

// Means has the hourly means of a place by the end of the hour, in Unix seconds.
type Means map[int64]*scale.Hour

// window returns the 24 hours that end at the time `at`.
func (m Means) window(at int64) *scale.Hours {
	var out scale.Hours
	for i := range out {
		if h := m[at-int64(i)*3600]; h != nil {
			out[i] = *h
		} else {
			out[i] = scale.Unmeasured()
		}
	}
	return &out
}

// Read reads the hourly means of a place, in hours that end after the time `after` and not later than `to`. Both are in
// Unix seconds. The mean of a place is the weighted mean of its stations. An hour of a station counts with three quarters
// of its readings, as in EU and US rules.
func (of Stations) Read(ctx context.Context, t rollup.Tables, after, to int64) (Means, error) {
	out := Means{}
	if len(of.IDs) == 0 {
		return out, nil
	}
	ctx, cancel := context.WithTimeout(ctx, rollup.QueryTimeout)
	defer cancel()
	weights := make([]string, len(of.Weights))
	for i, w := range of.Weights {
		weights[i] = strconv.FormatFloat(w, 'g', -1, 64)
	}
	names := make([]string, len(air.RecordPollutants))
	for i, p := range air.RecordPollutants {
		names[i] = "'" + p.String() + "'"
	}
	var at, pollutant uint32
	var mean float64
	err := t.Each(ctx, []any{&at, &pollutant, &mean}, func() {
		h := out[int64(at)]
		if h == nil {
			unmeasured := scale.Unmeasured()
			h = &unmeasured
			out[int64(at)] = h
		}
		h[pollutant] = mean
	}, fmt.Sprintf(`SELECT toUInt32(at), toUInt32(indexOf([%[2]s], toString(parameter)) - 1), sum(amount * weight) / sum(weight)
			FROM (SELECT at, parameter, assumeNotNull(mean) AS amount,
					transform(toString(station), {stations:Array(String)}, [%[3]s]::Array(Float64), 0.) AS weight
				FROM %[1]s.station_parameter_hour FINAL
				WHERE station IN {stations:Array(String)} AND at > toDateTime({after:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
					AND parameter IN (%[2]s) AND kind = 'concentration' AND mean IS NOT NULL AND averaging <= 60 AND 4 * count >= 3 * expected)
			GROUP BY at, parameter`, t.Database, strings.Join(names, ", "), strings.Join(weights, ", ")),
		rollup.Param("stations", of.IDs), rollup.Number("after", max(after, 0)), rollup.Number("to", max(to, 0)))
	if err != nil {
		return nil, fmt.Errorf("reading hourly means: %w", err)
	}
	return out, nil
}
