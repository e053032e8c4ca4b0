// Package gapfill fills the missing amounts (concentrations) of a record from
// stations nearby.
package gapfill

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
)

// FillWindow is the age, in seconds, below which a concentration can fill a gap. The age is the time from the hour of
// the concentration to the hour of the record that has the gap.
const FillWindow = 24 * 3600

// LastConcentrations has, for each pollutant of a record, the last concentration that a station measured. The field
// `at` has the end of the hour in Unix seconds; 0 for none.
type LastConcentrations struct {
	Concentrations [aggregate.Records]schema.Figure
	at             [aggregate.Records]uint32
}

func noConcentrations() LastConcentrations {
	return LastConcentrations{Concentrations: aggregate.NoFigures().Concentrations}
}

// Read reads, for each moment and station, the last concentration of each pollutant that the station measured in the
// 24 h before. Moments are ends of hours in Unix seconds, in ascending order. The result has the concentrations by
// station, in the order of the moments, with the units of [aggregate.Figures].
func Read(
	ctx context.Context, t aggregate.Tables, stations []string, moments []uint32,
) (map[string][]LastConcentrations, error) {
	from := max(moments[0], FillWindow) - FillWindow + 1
	return ReadWhere(ctx, t, "station IN {stations:Array(String)}", moments, from, func(ctx context.Context, dest []any, row func(), query string, args ...any) error {
		return t.EachNamed(ctx, stations, dest, row, query, args...)
	})
}

// ReadWhere does the same as [Read], for the stations that match an SQL condition, and for hours at or after the time
// `from`. Times are Unix seconds. The function `read` runs the query. The query assigns each hour to the first of the
// times `moments` that is not before it, so that ClickHouse reads the hour once. Then carryForward copies the
// concentrations to later moments.
func ReadWhere(ctx context.Context, t aggregate.Tables, condition string, moments []uint32, from uint32,
	read func(context.Context, []any, func(), string, ...any) error,
) (map[string][]LastConcentrations, error) {
	var amounts, hours []string
	for _, p := range air.RecordPollutants {
		amounts = append(amounts, aggregate.Hundredths("argMax("+p.String()+", at)"))
		hours = append(hours, "toUInt32(maxIf(at, isNotNull("+p.String()+")))")
	}
	// The SQL function roundDown returns the greatest element of a sorted list that is not above a number. The numbers
	// are negated, so that it returns the first moment at or after the hour.
	list := make([]string, len(moments))
	for i, m := range moments {
		list[len(list)-1-i] = fmt.Sprint(-int64(m))
	}
	var id string
	var moment uint32
	var got [aggregate.Records]int32
	var at [aggregate.Records]uint32
	dest := []any{&id, &moment}
	for i := range got {
		dest = append(dest, &got[i])
	}
	for i := range at {
		dest = append(dest, &at[i])
	}
	out := map[string][]LastConcentrations{}
	row := func() {
		n, ok := slices.BinarySearch(moments, moment)
		if !ok {
			return
		}
		of := out[id]
		if of == nil {
			of = slices.Repeat([]LastConcentrations{noConcentrations()}, len(moments))
			out[id] = of
		}
		of[n].at = at
		for i := range got {
			of[n].Concentrations[i] = schema.Figure(got[i])
		}
	}
	if condition == "" {
		condition = "1"
	}
	query := fmt.Sprintf(`SELECT station, toUInt32(-roundDown(-toInt64(toUInt32(at)), [%s]::Array(Int64))) AS moment, %s, %s
			FROM %s.station_hour FINAL
			PREWHERE %s AND at >= toDateTime({from:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')
			WHERE moment < toUInt32(at) + %d
			GROUP BY station, moment`,
		strings.Join(list, ", "), strings.Join(amounts, ", "), strings.Join(hours, ", "), t.Database, condition, FillWindow)
	if err := read(ctx, dest, row, query, aggregate.Number("from", from), aggregate.Number("to", moments[len(moments)-1])); err != nil {
		return nil, fmt.Errorf("reading values for gap filling: %w", err)
	}
	for _, of := range out {
		carryForward(of, moments)
	}
	return out, nil
}

// carryForward copies each amount to the next moment if that moment has none. It does not copy an amount that is 24 h
// old or more at that moment.
func carryForward(of []LastConcentrations, moments []uint32) {
	for n := 1; n < len(of); n++ {
		for p, at := range of[n-1].at {
			if of[n].at[p] == 0 && at > 0 && at+FillWindow > moments[n] {
				of[n].at[p], of[n].Concentrations[p] = at, of[n-1].Concentrations[p]
			}
		}
	}
}

// Fill fills the gaps of each element of `wanted`. For each gap it uses the nearest station that has measured
// the pollutant in the 24 h before the element's time. `ids` are the stations, sorted by distance.
func Fill(ctx context.Context, t aggregate.Tables, ids []string, wanted []*aggregate.Figures) error {
	var moments []uint32
	for _, f := range wanted {
		if f.Missing() != 0 {
			moments = append(moments, f.At)
		}
	}
	slices.Sort(moments)
	moments = slices.Compact(moments)
	if len(moments) == 0 || len(ids) == 0 {
		return nil
	}
	got, err := Read(ctx, t, ids, moments)
	if err != nil {
		return err
	}
	for _, f := range wanted {
		n, lacks := slices.BinarySearch(moments, f.At)
		for i := 0; lacks && i < len(ids) && f.Missing() != 0; i++ {
			if last, ok := got[ids[i]]; ok {
				f.FillFrom(&last[n].Concentrations)
			}
		}
	}
	return nil
}
