package query

import (
	"encoding/json"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/naqi"
)

// detailedAnswer is the answer to a query with view=detail. It is cached until the
// record becomes stale. It has no Last-Modified, because its stations and the field
// stale change at other times than the record.
type detailedAnswer struct {
	httpapi.Response
	validUntil time.Time // zero: no limit
}

// detailed returns the answer of a record with the fields d and the stations used.
func (s *Snapshot) detailed(record schema.Record, d schema.Detail, used []sample, updated uint32) (*detailedAnswer, error) {
	s.addStations(&d, used)
	body, err := json.Marshal(detailRecord{Record: record, Detail: d})
	if err != nil {
		return nil, err
	}
	made := &detailedAnswer{Response: httpapi.Ready(body, time.Time{})}
	made.Measured = int64(updated)
	if !d.Stale {
		made.validUntil = instant(updated).Add(StaleAfter)
	}
	return made, nil
}

func (d *detailedAnswer) valid(now time.Time) bool {
	return d != nil && (d.validUntil.IsZero() || now.Before(d.validUntil))
}

// detailRecord is the record with the fields of view=detail.
type detailRecord struct {
	schema.Record
	Date string `json:"date,omitempty"`
	schema.Detail
}

// detailOf returns the fields of view=detail that follow from the figures alone.
func detailOf(f *figures, now time.Time) schema.Detail {
	d := schema.Detail{
		SubIndices: map[string]int{}, Units: map[string]string{}, Averaging: map[string]string{},
		Stations: []schema.StationFigure{}, Estimated: []string{}, Attribution: []string{}, Source: []string{},
		StationsUsed: int(f.used), StationsTotal: int(f.total),
		Health: naqi.Health(naqi.Category(int(f.aqi))),
		Stale:  now.Sub(instant(f.updated)) > StaleAfter,
	}
	for i, p := range schema.Pollutants {
		if f.index[i] >= 0 {
			d.SubIndices[p.String()] = int(f.index[i])
		}
		if i >= records {
			continue
		}
		d.Units[p.String()] = p.Unit()
		d.Averaging[p.String()] = averaging(p, f.daily&(1<<i) != 0)
		if f.amount[i].Known() && (f.derived|f.gapFilled)&(1<<i) != 0 {
			d.Estimated = append(d.Estimated, p.String())
		}
	}
	return d
}

// averaging returns the interval of a mean: 8h for CO and O3, unless dailyMean is
// set.
func averaging(p schema.Pollutant, dailyMean bool) string {
	if (p == schema.CO || p == schema.O3) && !dailyMean {
		return "8h"
	}
	return "24h"
}

// addStations adds the samples that have figures, with their attribution and
// source.
func (s *Snapshot) addStations(d *schema.Detail, samples []sample) {
	for _, sm := range samples {
		if sm.figures.at == 0 {
			continue
		}
		st := &s.stations[sm.station]
		if !slices.Contains(d.Attribution, st.Attribution) && st.Attribution != "" {
			d.Attribution = append(d.Attribution, st.Attribution)
		}
		if !slices.Contains(d.Source, st.Source) && st.Source != "" {
			d.Source = append(d.Source, st.Source)
		}
		entry := schema.StationFigure{ID: st.ID, Name: st.Name, Kind: st.Kind.String(), AQI: optionalAQI(sm.figures.aqi), Updated: instant(sm.figures.updated)}
		if sm.km >= 0 {
			entry.DistanceKM = kilometres(sm.km)
		}
		d.Stations = append(d.Stations, entry)
	}
	slices.Sort(d.Attribution)
	slices.Sort(d.Source)
}

func optionalAQI(aqi int16) *int {
	if aqi < 0 {
		return nil
	}
	n := int(aqi)
	return &n
}

// ofCity returns the city's stations of these kinds as samples, sorted by distance
// from its centre. The distance is -1 for a station without a position.
func (s *Snapshot) ofCity(c *city, kinds kindSet) []sample {
	out := make([]sample, 0, len(c.stations))
	for _, i := range c.stations {
		st := &s.stations[i]
		if !kinds.has(st.Kind) {
			continue
		}
		km := -1.0
		if st.Located() && c.position.Known() {
			km = places.Distance(c.position, st.point())
		}
		out = append(out, sample{station: i, km: km, figures: &st.figures})
	}
	slices.SortStableFunc(out, func(a, b sample) int { return int(a.km*1000) - int(b.km*1000) })
	return out
}

// reporting returns the city's stations that reported in the hour of its record,
// including those without an AQI.
func (s *Snapshot) reporting(c *city) []sample {
	var out []sample
	for _, sm := range s.ofCity(c, s.kinds) {
		st := &s.stations[sm.station]
		if st.at != c.at {
			if st.cityHourUpdated == 0 {
				continue
			}
			then := noFigures()
			then.at, then.updated, then.aqi = c.at, st.cityHourUpdated, st.cityHourAQI
			sm.figures = &then
		}
		out = append(out, sm)
	}
	return out
}

// cityDetail returns the detailed answer of a city that has figures.
func (s *Snapshot) cityDetail(i int, now time.Time) (httpapi.Response, error) {
	if d := s.details[i].Load(); d.valid(now) {
		return d.Response, nil
	}
	c := &s.cities[i]
	detail := detailOf(&c.figures, now)
	detail.State = c.State
	made, err := s.detailed(c.record(s.index.Label(i)), detail, s.reporting(c), c.updated)
	if err != nil {
		return httpapi.Response{}, err
	}
	s.details[i].Store(made)
	return made.Response, nil
}
