package query

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"vayu/schema"
)

// cityRowsOfKinds returns a city's days or hours from its stations of these kinds.
func (t reader) cityRowsOfKinds(
	ctx context.Context, snap *Snapshot, i int, kinds kindSet, days span, hourly bool,
) ([]row, error) {
	all := snap.ofCity(&snap.cities[i], kinds)
	after, until := uint32(max(days.first.Start().Unix(), hourReach)), uint32(max(days.last.End().Unix(), 0))
	var condition string
	if !hourly {
		hours, err := t.ratedHours(ctx, snap, all, after-hourReach, until)
		if err != nil {
			return nil, unavailable(err)
		}
		wanted := hoursOfDays(hours, days.first)
		if len(wanted) == 0 {
			return nil, nil
		}
		list := make([]string, len(wanted))
		for n, at := range wanted {
			list[n] = strconv.FormatUint(uint64(at), 10)
		}
		condition = "toUInt32(at) IN (" + strings.Join(list, ", ") + ")"
	}
	by, err := snap.readHours(ctx, t.tables, all, after, until, condition)
	if err != nil {
		return nil, unavailable(err)
	}
	var out []row
	for _, h := range snap.cityHours(by) {
		day := hourOnly
		if !hourly {
			day = schema.DayOf(instant(h.at))
		}
		out = append(out, row{day, mean(by[h.at])})
	}
	neighbours := snap.stationIDs(snap.around(snap.cities[i].position, nearestReach, kinds))
	return out, unavailable(fillGaps(ctx, t.tables, neighbours, pointers(out)))
}

// ratedHours counts the stations with an AQI in each hour. Series of city means
// count only on days without hours of stations.
func (t reader) ratedHours(ctx context.Context, snap *Snapshot, all []sample, after, to uint32) ([]cityHour, error) {
	var measured, averaged []sample
	for _, sm := range all {
		if snap.stations[sm.station].Kind == schema.CityMean {
			averaged = append(averaged, sm)
		} else {
			measured = append(measured, sm)
		}
	}
	counts, days := map[uint32]uint64{}, map[schema.Day]bool{}
	var at uint32
	var n uint64
	for _, part := range [][]sample{measured, averaged} {
		stand := len(counts) > 0 // city mean series count only on days without stations
		if len(part) == 0 {
			continue
		}
		err := t.eachNamed(ctx, snap.stationIDs(part), []any{&at, &n}, func() {
			if day := schema.DayOf(instant(at)); !stand || !days[day] {
				counts[at] += n
			}
		}, fmt.Sprintf(`SELECT toUInt32(at), count() FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)} AND aqi IS NOT NULL
				AND at > toDateTime({after:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')
			GROUP BY at`, t.database), number("after", after), number("to", to))
		if err != nil {
			return nil, fmt.Errorf("reading hours of stations: %w", err)
		}
		for at := range counts {
			days[schema.DayOf(instant(at))] = true
		}
	}
	out := make([]cityHour, 0, len(counts))
	for _, at := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, cityHour{at, uint16(min(counts[at], math.MaxUint16))})
	}
	return out, nil
}
