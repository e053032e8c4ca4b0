package query

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema"
	"vayu/schema/naqi"
)

// mean returns the figures of a city from its stations in one hour, by the rule of
// pipeline/airquality. The AQI is the mean of the station AQIs, half-up, and the
// pollutant with the largest mean sub-index is dominant. Concentrations include
// stations without an AQI. At least one sample must have an AQI.
func mean(samples []sample) figures {
	out := noFigures()
	var aqi, used int
	for _, sm := range samples {
		f := sm.figures
		out.at, out.updated = max(out.at, f.at), max(out.updated, f.updated)
		out.derived |= f.derived
		out.daily |= f.daily
		if f.aqi >= 0 {
			aqi += int(f.aqi)
			used++
		}
	}
	out.aqi = int16(naqi.Mean(aqi, used))
	out.used, out.total = uint16(min(used, math.MaxUint16)), uint16(min(len(samples), math.MaxUint16))
	largest := -1.0
	for _, p := range naqi.Precedence {
		sum, n, led := 0, 0, 0
		for _, sm := range samples {
			if sm.figures.aqi < 0 {
				continue
			}
			if v := sm.figures.index[p-1]; v >= 0 {
				sum += int(v)
				n++
			}
			if sm.figures.dominant == p {
				led++
			}
		}
		if n == 0 {
			continue
		}
		out.index[p-1] = int16(naqi.Mean(sum, n))
		// Of equal means the pollutant that is dominant at more stations wins.
		if m := float64(sum)/float64(n) + float64(led)/1e7; m > largest {
			largest, out.dominant = m, p
		}
	}
	for i := range out.amount {
		out.amount[i] = meanAmount(samples, i)
	}
	return out
}

func meanAmount(samples []sample, i int) schema.Figure {
	sum, n := int64(0), int64(0)
	for _, sm := range samples {
		if v := sm.figures.amount[i]; v.Known() {
			sum += int64(v)
			n++
		}
	}
	if n == 0 {
		return schema.Unknown
	}
	return schema.Figure((2*sum + n) / (2 * n))
}

// currentOfKinds returns the current figures of a city from its stations of these
// kinds, and the stations that reported in that hour. It returns false if no
// station has an AQI.
func (a *worldState) currentOfKinds(
	ctx context.Context, snap *Snapshot, i int, kinds kindSet, now time.Time,
) (f figures, used []sample, ok bool, err error) {
	all := snap.ofCity(&snap.cities[i], kinds)
	known := snap.preferStations(slices.DeleteFunc(slices.Clone(all), func(sm sample) bool { return sm.figures.aqi < 0 }))
	if len(known) == 0 {
		return figures{}, nil, false, nil
	}
	var at uint32
	for _, sm := range known {
		at = max(at, sm.figures.at)
	}
	in := slices.DeleteFunc(slices.Clone(all), func(sm sample) bool { return sm.figures.at != at })
	recent := 0
	for _, sm := range known {
		if sm.figures.at+hourReach >= at {
			recent++
		}
	}
	in = snap.preferStations(in)
	// With half of the stations that reported within a day, the latest hour is
	// current. No earlier hour of the day has more stations than these.
	latest := cityHour{at: at, used: uint16(min(countRated(in), math.MaxUint16))}
	if 2*int(latest.used) < recent && now.Before(instant(at).Add(hourWait)) {
		if in, err = a.readCurrentHour(ctx, snap, all, at, now); err != nil {
			return figures{}, nil, false, err
		}
	}
	f = mean(in)
	for _, sm := range snap.around(snap.cities[i].position, nearestReach, kinds) {
		if f.missing() == 0 {
			break
		}
		if amount, ok := snap.lastMeasured(sm.station, f.at); ok {
			f.fillFrom(amount)
		}
	}
	return f, in, true, nil
}

// countRated returns the number of samples with an AQI.
func countRated(samples []sample) (n int) {
	for _, sm := range samples {
		if sm.figures.aqi >= 0 {
			n++
		}
	}
	return n
}

// readCurrentHour reads the samples of the current hour. That may be older than the
// latest hour, the only one in memory.
func (a *worldState) readCurrentHour(
	ctx context.Context, snap *Snapshot, all []sample, latest uint32, now time.Time,
) ([]sample, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	by, err := a.clientTables.hoursOf(ctx, snap, all, latest-hourReach-1, latest, "")
	if err != nil {
		return nil, unavailable(err)
	}
	hours := snap.cityHours(by)
	if len(hours) == 0 {
		return all, nil // rows were removed after the snapshot was made
	}
	n, _ := currentHour(hours, now)
	return by[hours[n].at], nil
}

// cityHours returns the hours in time order. It prefers stations to city mean
// series.
func (s *Snapshot) cityHours(by map[uint32][]sample) []cityHour {
	out := make([]cityHour, 0, len(by))
	for _, at := range slices.Sorted(maps.Keys(by)) {
		by[at] = s.preferStations(by[at])
		if n := countRated(by[at]); n > 0 {
			out = append(out, cityHour{at, uint16(min(n, math.MaxUint16))})
		}
	}
	return out
}

// hoursOf reads the hours of the samples' stations after one instant and up to
// another, by hour. condition selects hours in SQL, "" for all.
func (t tables) hoursOf(
	ctx context.Context, snap *Snapshot, samples []sample, after, to uint32, condition string,
) (map[uint32][]sample, error) {
	of := make(map[string]sample, len(samples))
	for _, sm := range samples {
		of[snap.stations[sm.station].ID] = sm
	}
	if condition != "" {
		condition = " AND " + condition
	}
	out := map[uint32][]sample{}
	var id string
	var row raw
	err := t.eachNamed(ctx, snap.stationIDs(samples), row.into(&id), func() {
		sm, f := of[id], row.figures()
		sm.figures = &f
		out[f.at] = append(out[f.at], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)}
				AND at > toDateTime({after:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')%s`, stationFigures, t.database, condition),
		number("after", after), number("to", to))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	return out, nil
}

// cityHistoryOfKinds returns a city's history from its stations of these kinds.
func (a *worldState) cityHistoryOfKinds(
	ctx context.Context, snap *Snapshot, i int, kinds kindSet, from, to schema.Day, hourly bool,
) ([]historyRow, error) {
	all := snap.ofCity(&snap.cities[i], kinds)
	after, until := uint32(max(from.Start().Unix(), hourReach)), uint32(max(to.End().Unix(), 0))
	var condition string
	if !hourly {
		hours, err := a.clientTables.ratedHours(ctx, snap, all, after-hourReach, until)
		if err != nil {
			return nil, unavailable(err)
		}
		wanted := hoursOfDays(hours, from)
		if len(wanted) == 0 {
			return nil, nil
		}
		list := make([]string, len(wanted))
		for n, at := range wanted {
			list[n] = strconv.FormatUint(uint64(at), 10)
		}
		condition = "toUInt32(at) IN (" + strings.Join(list, ", ") + ")"
	}
	by, err := a.clientTables.hoursOf(ctx, snap, all, after, until, condition)
	if err != nil {
		return nil, unavailable(err)
	}
	var out []historyRow
	for _, h := range snap.cityHours(by) {
		day := hourOnly
		if !hourly {
			day = schema.DayOf(instant(h.at))
		}
		out = append(out, historyRow{day, mean(by[h.at])})
	}
	neighbours := func() []string {
		return snap.stationIDs(snap.around(snap.cities[i].position, nearestReach, kinds))
	}
	return out, unavailable(a.clientTables.fillGaps(ctx, neighbours(), pointers(out)))
}

// ratedHours counts the stations with an AQI in each hour. Series of city means
// count only on days without hours of stations.
func (t tables) ratedHours(ctx context.Context, snap *Snapshot, all []sample, after, to uint32) ([]cityHour, error) {
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
