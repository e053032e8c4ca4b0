package station

import (
	"time"

	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// CityEntry returns city i of a snapshot as an entry of GET /v1/cities. The time `now` determines the freshness of its
// figures.
func CityEntry(s *snapshot.Snapshot, i int, now time.Time) air.CityEntry {
	c := &s.Cities[i]
	e := air.CityEntry{Name: s.Index.Label(i), City: c.Name, State: c.State, Stations: len(c.Stations)}
	e.AQI, e.Category, e.Updated = headline(&c.Figures)
	e.Freshness = freshness(&c.Figures, now)
	e.Latitude, e.Longitude = places.Degrees(c.Position)
	var first, last time.Time
	for n, i := range c.Stations {
		st := &s.Stations[i]
		if n == 0 || st.FirstSeen.Before(first) {
			first = st.FirstSeen
		}
		if seen := lastSeen(&st.Station, &st.Figures); n == 0 || seen.After(last) {
			last = seen
		}
	}
	e.FirstDay, e.LastDay = schema.DayOf(first).String(), schema.DayOf(last).String()
	return e
}

func freshness(f *aggregate.Figures, now time.Time) air.Freshness {
	fresh := air.Freshness{Stale: f.Stale(now)}
	if f.At > 0 {
		hours := max(0, int(now.Sub(aggregate.Instant(f.Updated))/time.Hour))
		fresh.AgeHours = &hours
	}
	return fresh
}

func headline(f *aggregate.Figures) (aqi *int, category *string, updated *time.Time) {
	if f.At > 0 {
		t := aggregate.Instant(f.Updated)
		updated = &t
	}
	if f.AQI >= 0 {
		name := naqi.Category(int(f.AQI))
		aqi, category = snapshot.OptionalAQI(f.AQI), &name
	}
	return aqi, category, updated
}

// lastSeen returns the time of a station's last reading. The row of the station may be up to an hour older than its
// figures, so lastSeen returns the later time of the two.
func lastSeen(st *air.Station, f *aggregate.Figures) time.Time {
	if updated := aggregate.Instant(f.Updated); updated.After(st.LastSeen) {
		return updated
	}
	return st.LastSeen
}

// Entry returns a station with its figures as an entry of GET /v1/stations. The time `now` determines the freshness of
// the figures.
func Entry(st *air.Station, f *aggregate.Figures, now time.Time) air.StationEntry {
	e := air.StationEntry{
		ID: st.ID, Name: st.Name, City: st.City, State: st.State, Kind: st.Kind.String(), Source: st.Source,
		Attribution: st.Attribution, Licence: st.Licence, FirstSeen: st.FirstSeen, LastSeen: lastSeen(st, f),
		PM25: f.Concentrations[0], PM10: f.Concentrations[1], NO2: f.Concentrations[2], SO2: f.Concentrations[3], CO: f.Concentrations[4], O3: f.Concentrations[5],
		SubIndices: map[string]int{},
	}
	e.AQI, e.Category, e.Updated = headline(f)
	e.Freshness = freshness(f, now)
	e.Latitude, e.Longitude = places.Degrees(places.Point{Latitude: st.Latitude, Longitude: st.Longitude})
	if f.AQI >= 0 && f.Dominant.Valid() {
		label := f.Dominant.Label()
		e.Dominant = &label
	}
	for n, p := range air.Pollutants {
		if f.Index[n] >= 0 {
			e.SubIndices[p.String()] = int(f.Index[n])
		}
	}
	return e
}
