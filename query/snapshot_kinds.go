package query

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"vayu/internal/httpapi"
)

// cityOfKinds returns the current answer of a city from its stations of these kinds.
// It returns false if no station has an AQI.
func (s *Snapshot) cityOfKinds(
	ctx context.Context, t tables, i int, kinds kindSet, detail bool, now time.Time,
) (resp httpapi.Response, ok bool, err error) {
	f, used, ok, err := s.currentOfKinds(ctx, t, i, kinds, now)
	if err != nil || !ok {
		return httpapi.Response{}, false, err
	}
	record := f.record(s.index.Label(i))
	if !detail {
		resp := httpapi.Ready(kinds.appendTo(append(record.Append(make([]byte, 0, 300)), '}')), time.Time{})
		resp.Measured = int64(f.updated)
		return resp, true, nil
	}
	d := detailOf(&f, now)
	d.State, d.Kinds = s.cities[i].State, kinds.named()
	made, err := s.detailed(record, d, used, f.updated)
	if err != nil {
		return httpapi.Response{}, false, err
	}
	return made.Response, true, nil
}

// currentOfKinds returns the current figures of a city from its stations of these
// kinds, and the stations that reported in that hour. It returns false if no
// station has an AQI.
func (s *Snapshot) currentOfKinds(
	ctx context.Context, t tables, i int, kinds kindSet, now time.Time,
) (f figures, used []sample, ok bool, err error) {
	all := s.ofCity(&s.cities[i], kinds)
	known := s.preferStations(slices.DeleteFunc(slices.Clone(all), func(sm sample) bool { return sm.figures.aqi < 0 }))
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
	in = s.preferStations(in)
	// With half of the stations that reported within a day, the latest hour is
	// current. No earlier hour of the day has more stations than these.
	latest := cityHour{at: at, used: uint16(min(countRated(in), math.MaxUint16))}
	if 2*int(latest.used) < recent && now.Before(instant(at).Add(hourWait)) {
		if in, err = s.readCurrentHour(ctx, t, all, at, now); err != nil {
			return figures{}, nil, false, err
		}
	}
	f = mean(in)
	for _, sm := range s.around(s.cities[i].position, nearestReach, kinds) {
		if f.missing() == 0 {
			break
		}
		if amount, ok := s.lastMeasured(sm.station, f.at); ok {
			f.fillFrom(amount)
		}
	}
	return f, in, true, nil
}

// readCurrentHour reads the samples of the current hour. That may be older than the
// latest hour, the only one in memory.
func (s *Snapshot) readCurrentHour(
	ctx context.Context, t tables, all []sample, latest uint32, now time.Time,
) ([]sample, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	by, err := s.readHours(ctx, t, all, latest-hourReach-1, latest, "")
	if err != nil {
		return nil, unavailable(err)
	}
	hours := s.cityHours(by)
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

// readHours reads the hours of the samples' stations after one instant and up to
// another, by hour. condition selects hours in SQL, "" for all.
func (s *Snapshot) readHours(
	ctx context.Context, t tables, samples []sample, after, to uint32, condition string,
) (map[uint32][]sample, error) {
	of := make(map[string]sample, len(samples))
	for _, sm := range samples {
		of[s.stations[sm.station].ID] = sm
	}
	if condition != "" {
		condition = " AND " + condition
	}
	out := map[uint32][]sample{}
	var id string
	var row raw
	err := t.eachNamed(ctx, s.stationIDs(samples), row.into(&id), func() {
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
