package scales

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vayu/query/aggregate"
	"vayu/query/snapshot"
	"vayu/schema/air"
	"vayu/schema/scale"
)

// Stations has the stations from which the hourly means of a place are computed, and the weight of each station.
type Stations struct {
	IDs     []string
	Weights []float64
}

// StationsOf returns the stations of samples, with their weights. A sample with weight 0 gets the weight 1. First,
// [snapshot.Snapshot.PreferStations] removes samples that would count twice: means of cities beside their stations,
// and further ids of one physical station. The result has at most aggregate.MaxStationsPerQuery stations. StationsOf
// overwrites the slice `samples`.
func StationsOf(snap *snapshot.Snapshot, samples []aggregate.Sample) Stations {
	samples = snap.PreferStations(samples)
	samples = samples[:min(len(samples), aggregate.MaxStationsPerQuery)]
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

// Place is a place and a period whose hourly means are needed. The period has the hours that end later than After and
// not later than To. Both are in Unix seconds.
type Place struct {
	Stations
	After, To int64
}

// Read reads the hourly means of places. The result has one element per place, in the same order. The mean of a place
// is the weighted mean of its stations. An hour of a station counts if it has at least three quarters of its
// readings, as in EU and US rules. One query reads many places, but places with a common station need separate
// queries. Units are those of [scale.Hour]. An error is that of ClickHouse or of ctx.
func Read(ctx context.Context, t aggregate.Tables, of []Place) ([]Means, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	out := make([]Means, len(of))
	for i := range out {
		out[i] = Means{}
	}
	for first := 0; first < len(of); {
		next := group(of, first)
		if err := read(ctx, t, of[first:next], out[first:next]); err != nil {
			return nil, fmt.Errorf("reading hourly means: %w", err)
		}
		first = next
	}
	return out, nil
}

// group returns the end of a group of places that one query can read. The group begins at the index `first`. Its
// places have no common station, and together at most as many stations as one query can name.
func group(of []Place, first int) int {
	seen := map[string]bool{}
	for i := first; i < len(of); i++ {
		ids := of[i].IDs
		if i > first && len(seen)+len(ids) > aggregate.MaxStationsPerQuery || slices.ContainsFunc(ids, func(id string) bool { return seen[id] }) {
			return i
		}
		for _, id := range ids {
			seen[id] = true
		}
	}
	return len(of)
}

// read reads the hourly means of places that share no station, with one query.
func read(ctx context.Context, t aggregate.Tables, of []Place, into []Means) error {
	var ids []string
	var weights, places, after, to []string // of each station
	first, last := of[0].After, of[0].To
	for n, p := range of {
		ids = append(ids, p.IDs...)
		for _, w := range p.Weights {
			weights = append(weights, strconv.FormatFloat(w, 'g', -1, 64))
			places = append(places, strconv.Itoa(n))
			after, to = append(after, strconv.FormatInt(p.After, 10)), append(to, strconv.FormatInt(p.To, 10))
		}
		first, last = min(first, p.After), max(last, p.To)
	}
	if len(ids) == 0 {
		return nil
	}
	names := make([]string, len(air.RecordPollutants))
	for i, p := range air.RecordPollutants {
		names[i] = "'" + p.String() + "'"
	}
	list := func(values []string) string { return "[" + strings.Join(values, ", ") + "]" }
	var at, place, pollutant uint32
	var mean float64
	return t.Each(ctx, []any{&place, &at, &pollutant, &mean}, func() {
		h := into[place][int64(at)]
		if h == nil {
			unmeasured := scale.Unmeasured()
			h = &unmeasured
			into[place][int64(at)] = h
		}
		h[pollutant] = mean
	}, fmt.Sprintf(`SELECT toUInt32(%[4]s[n]) AS place, toUInt32(at), toUInt32(indexOf(%[2]s, toString(parameter)) - 1), sum(amount * weight) / sum(weight)
			FROM (SELECT at, parameter, assumeNotNull(mean) AS amount,
					transform(toString(station), {stations:Array(String)}, arrayEnumerate({stations:Array(String)}), 0) AS n, %[3]s::Array(Float64)[n] AS weight
				FROM %[1]s.station_parameter_hour FINAL
				WHERE station IN {stations:Array(String)} AND at > toDateTime({after:Int64}, 'UTC') AND at <= toDateTime({to:Int64}, 'UTC')
					AND parameter IN %[2]s AND kind = 'concentration' AND mean IS NOT NULL AND averaging <= 60 AND 4 * count >= 3 * expected
					AND toInt64(toUnixTimestamp(at)) > %[5]s::Array(Int64)[n] AND toInt64(toUnixTimestamp(at)) <= %[6]s::Array(Int64)[n])
			GROUP BY place, at, parameter`, t.Database, list(names), list(weights), list(places), list(after), list(to)),
		aggregate.Param("stations", ids), aggregate.Number("after", max(first, 0)), aggregate.Number("to", max(last, 0)))
}
