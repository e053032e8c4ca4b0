package history

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"vayu/query/aggregate"
	"vayu/query/gapfill"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
)

// cityRowsOfKinds returns a city's days or hours, computed from the city's stations
// of the given kinds.
func (t reader) cityRowsOfKinds(
	ctx context.Context, snap *snapshot.Snapshot, i int, kinds aggregate.KindSet, days Span, hourly bool,
) ([]row, error) {
	all := snap.OfCity(&snap.Cities[i], kinds)
	after, until := uint32(max(days.First.Start().Unix(), aggregate.HourReach)), uint32(max(days.Last.End().Unix(), 0))
	var condition string
	if !hourly {
		hours, err := t.ratedHours(ctx, snap, all, after-aggregate.HourReach, until)
		if err != nil {
			return nil, aggregate.Unavailable(err)
		}
		wanted := aggregate.HoursOfDays(hours, days.First)
		if len(wanted) == 0 {
			return nil, nil
		}
		list := make([]string, len(wanted))
		for n, at := range wanted {
			list[n] = strconv.FormatUint(uint64(at), 10)
		}
		condition = "toUInt32(at) IN (" + strings.Join(list, ", ") + ")"
	}
	by, err := snap.ReadHours(ctx, t.Tables, all, after, until, condition)
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	var out []row
	for _, h := range snap.CityHours(by) {
		day := hourOnly
		if !hourly {
			day = schema.DayOf(aggregate.Instant(h.At))
		}
		out = append(out, row{day, aggregate.Mean(by[h.At])})
	}
	neighbours := snap.StationIDs(snap.Around(snap.Cities[i].Position, snapshot.NearestReach, kinds))
	return out, aggregate.Unavailable(gapfill.Fill(ctx, t.Tables, neighbours, pointers(out)))
}

// ratedHours counts, for each hour, the stations with an AQI. It counts a series of city means only on days on which
// no other station has an AQI.
func (t reader) ratedHours(ctx context.Context, snap *snapshot.Snapshot, all []aggregate.Sample, after, to uint32) ([]aggregate.CityHour, error) {
	var measured, averaged []aggregate.Sample
	for _, sm := range all {
		if snap.Stations[sm.Station].Kind == air.CityMean {
			averaged = append(averaged, sm)
		} else {
			measured = append(measured, sm)
		}
	}
	counts, days := map[uint32]uint64{}, map[schema.Day]bool{}
	var at uint32
	var n uint64
	for _, part := range [][]aggregate.Sample{measured, averaged} {
		stand := len(counts) > 0 // city mean series count only on days without stations
		if len(part) == 0 {
			continue
		}
		err := t.EachNamed(ctx, snap.StationIDs(part), []any{&at, &n}, func() {
			if day := schema.DayOf(aggregate.Instant(at)); !stand || !days[day] {
				counts[at] += n
			}
		}, fmt.Sprintf(`SELECT toUInt32(at), count() FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({after:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')
			GROUP BY at`, t.Database), aggregate.Number("after", after), aggregate.Number("to", to))
		if err != nil {
			return nil, fmt.Errorf("reading hours of stations: %w", err)
		}
		for at := range counts {
			days[schema.DayOf(aggregate.Instant(at))] = true
		}
	}
	out := make([]aggregate.CityHour, 0, len(counts))
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, aggregate.CityHour{At: at, Used: uint16(min(counts[at], math.MaxUint16))})
	}
	return out, nil
}
