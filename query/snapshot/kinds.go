package snapshot

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
)

// CityOfKinds returns the current answer for city i, computed from the city's stations of the given
// kinds. It returns false if none of these stations has an AQI.
func (s *Snapshot) CityOfKinds(
	ctx context.Context, t aggregate.Tables, i int, kinds aggregate.KindSet, detail bool, now time.Time,
) (resp httpapi.Response, ok bool, err error) {
	f, used, ok, err := s.CurrentOfKinds(ctx, t, i, kinds, now)
	if err != nil || !ok {
		return httpapi.Response{}, false, err
	}
	record := f.Record(s.Index.Label(i))
	if !detail {
		resp := httpapi.Ready(kinds.AppendTo(append(record.Append(make([]byte, 0, 300)), '}')), time.Time{})
		resp.Measured = int64(f.Updated)
		return resp, true, nil
	}
	d := DetailOf(&f, now)
	d.State, d.Kinds = s.Cities[i].State, kinds.Named()
	made, err := s.detailed(record, d, used, f.Updated)
	if err != nil {
		return httpapi.Response{}, false, err
	}
	return made.Response, true, nil
}

// CurrentOfKinds returns the current figures of the city at position i of Cities, computed from its stations of the
// given kinds. It also returns the stations that reported in the hour of these figures. `ok` is false if no station of
// these kinds has an AQI. The error is a *schema.Problem if ClickHouse is needed but down.
func (s *Snapshot) CurrentOfKinds(
	ctx context.Context, t aggregate.Tables, i int, kinds aggregate.KindSet, now time.Time,
) (f aggregate.Figures, used []aggregate.Sample, ok bool, err error) {
	all := s.OfCity(&s.Cities[i], kinds)
	known := s.PreferStations(slices.DeleteFunc(slices.Clone(all), func(sm aggregate.Sample) bool { return sm.Figures.AQI < 0 }))
	if len(known) == 0 {
		return aggregate.Figures{}, nil, false, nil
	}
	var at uint32
	for _, sm := range known {
		at = max(at, sm.Figures.At)
	}
	in := slices.DeleteFunc(slices.Clone(all), func(sm aggregate.Sample) bool { return sm.Figures.At != at })
	recent := 0
	for _, sm := range known {
		if sm.Figures.At+aggregate.HourReach >= at {
			recent++
		}
	}
	in = s.PreferStations(in)
	// `recent` counts the stations whose latest hour is at most a day before the hour `at`. Every hour of that day has
	// at most `recent` stations. So the hour `at` is current if at least half of `recent` stations have it.
	latest := aggregate.CityHour{At: at, Used: uint16(min(aggregate.CountRated(in), math.MaxUint16))}
	if 2*int(latest.Used) < recent && now.Before(aggregate.Instant(at).Add(aggregate.HourWait)) {
		if in, err = s.readCurrentHour(ctx, t, all, at, now); err != nil {
			return aggregate.Figures{}, nil, false, err
		}
	}
	f = aggregate.Mean(in)
	for _, sm := range s.Around(s.Cities[i].Position, NearestReach, kinds) {
		if f.Missing() == 0 {
			break
		}
		if amount, ok := s.lastMeasured(sm.Station, f.At); ok {
			f.FillFrom(amount)
		}
	}
	return f, in, true, nil
}

// readCurrentHour reads the samples of the current hour from ClickHouse. If few stations have reported in the hour
// `latest`, an earlier hour is the current one. Only the latest hour of each station is in memory.
func (s *Snapshot) readCurrentHour(
	ctx context.Context, t aggregate.Tables, all []aggregate.Sample, latest uint32, now time.Time,
) ([]aggregate.Sample, error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	by, err := s.ReadHours(ctx, t, all, latest-aggregate.HourReach-1, latest, "")
	if err != nil {
		return nil, aggregate.Unavailable(err)
	}
	hours := s.CityHours(by)
	if len(hours) == 0 {
		return all, nil // ClickHouse has lost rows since the snapshot was made
	}
	n, _ := aggregate.CurrentHour(hours, now)
	return by[hours[n].At], nil
}

// CityHours returns the hours in the map `by` in which a station has an AQI, in time order. It removes from `by` the
// samples that PreferStations rejects.
func (s *Snapshot) CityHours(by map[uint32][]aggregate.Sample) []aggregate.CityHour {
	out := make([]aggregate.CityHour, 0, len(by))
	for _, at := range slices.Sorted(maps.Keys(by)) {
		by[at] = s.PreferStations(by[at])
		if n := aggregate.CountRated(by[at]); n > 0 {
			out = append(out, aggregate.CityHour{At: at, Used: uint16(min(n, math.MaxUint16))})
		}
	}
	return out
}

// ReadHours reads the figures of the samples' stations in the hours later than `after` and not later than `to`. It
// returns them as samples, by hour. The SQL condition `condition` selects hours; "" selects all.
func (s *Snapshot) ReadHours(
	ctx context.Context, t aggregate.Tables, samples []aggregate.Sample, after, to uint32, condition string,
) (map[uint32][]aggregate.Sample, error) {
	of := make(map[string]aggregate.Sample, len(samples))
	for _, sm := range samples {
		of[s.Stations[sm.Station].ID] = sm
	}
	if condition != "" {
		condition = " AND " + condition
	}
	out := map[uint32][]aggregate.Sample{}
	var id string
	var row aggregate.Scanned
	err := t.EachNamed(ctx, s.StationIDs(samples), row.Into(&id), func() {
		sm, f := of[id], row.Figures()
		sm.Figures = &f
		out[f.At] = append(out[f.At], sm)
	}, fmt.Sprintf(`SELECT station, %s FROM %s.station_hour FINAL
			WHERE station IN {stations:Array(String)}
				AND at > toDateTime({after:UInt32}, 'UTC') AND at <= toDateTime({to:UInt32}, 'UTC')%s`, aggregate.StationFigures, t.Database, condition),
		aggregate.Number("after", after), aggregate.Number("to", to))
	if err != nil {
		return nil, fmt.Errorf("reading hours of stations: %w", err)
	}
	return out, nil
}
