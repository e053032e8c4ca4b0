package snapshot

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// detailedAnswer is the answer to a query with view=detail. It is cached until its field `stale` would change. It has
// no Last-Modified, because its stations and `stale` change at other times than the record.
type detailedAnswer struct {
	httpapi.Response
	validUntil time.Time // zero if there is no limit
}

// detailed returns the answer to a query with view=detail, from a record, the fields d, and the stations in `used`.
func (s *Snapshot) detailed(record air.Record, d air.Detail, used []aggregate.Sample, updated uint32) (*detailedAnswer, error) {
	s.AddStations(&d, used)
	body, err := json.Marshal(DetailRecord{Record: record, Detail: d})
	if err != nil {
		return nil, err
	}
	made := &detailedAnswer{Response: httpapi.Ready(body, time.Time{}).CompressOnce()}
	made.Measured = int64(updated)
	if !d.Stale {
		made.validUntil = aggregate.Instant(updated).Add(aggregate.StaleAfter)
	}
	return made, nil
}

func (d *detailedAnswer) valid(now time.Time) bool {
	return d != nil && (d.validUntil.IsZero() || now.Before(d.validUntil))
}

// DetailRecord is a record with the additional fields of view=detail.
type DetailRecord struct {
	air.Record
	Date    string `json:"date,omitempty"`
	Station string `json:"station,omitempty"` // id, if the query names a station
	air.Detail
}

// DetailOf returns the fields of view=detail that depend only on the figures and the time.
func DetailOf(f *aggregate.Figures, now time.Time) air.Detail {
	d := air.Detail{
		SubIndices: map[string]int{}, Units: map[string]string{}, Averaging: map[string]string{},
		Stations: []air.StationFigure{}, Estimated: []string{}, Attribution: []string{}, Source: []string{},
		StationsUsed: int(f.Used), StationsTotal: int(f.Total),
		CategoryName: naqi.Category(int(f.AQI)), Health: naqi.Health(naqi.Category(int(f.AQI))),
		Stale: f.Stale(now),
	}
	for i, p := range air.Pollutants {
		if f.Index[i] >= 0 {
			d.SubIndices[p.String()] = int(f.Index[i])
		}
		amount := f.Concentration(p)
		if i >= aggregate.Records && !amount.Known() {
			continue
		}
		d.Units[p.String()] = p.Unit()
		d.Averaging[p.String()] = averaging(p, f.Daily&(1<<i) != 0)
		if amount.Known() && (f.Derived|f.GapFilled)&(1<<i) != 0 {
			d.Estimated = append(d.Estimated, p.String())
		}
	}
	d.NH3, d.Pb = f.Measured(air.NH3), f.Measured(air.Pb)
	return d
}

// averaging returns the averaging interval of a pollutant's mean. It is 8h for CO and O3 unless
// `dailyMean` is set, and otherwise 24h.
func averaging(p air.Pollutant, dailyMean bool) string {
	if (p == air.CO || p == air.O3) && !dailyMean {
		return "8h"
	}
	return "24h"
}

// AddStations adds to d those stations of the samples that have figures, with their attributions and sources.
func (s *Snapshot) AddStations(d *air.Detail, samples []aggregate.Sample) {
	for _, sm := range samples {
		if sm.Figures.At == 0 {
			continue
		}
		st := &s.Stations[sm.Station]
		if !slices.Contains(d.Attribution, st.Attribution) && st.Attribution != "" {
			d.Attribution = append(d.Attribution, st.Attribution)
		}
		if !slices.Contains(d.Source, st.Source) && st.Source != "" {
			d.Source = append(d.Source, st.Source)
		}
		entry := air.StationFigure{ID: st.ID, Name: st.Name, Kind: st.Kind.String(), AQI: OptionalAQI(sm.Figures.AQI), Updated: aggregate.Instant(sm.Figures.Updated)}
		if sm.KM >= 0 {
			entry.DistanceKM = Kilometres(sm.KM)
		}
		d.Stations = append(d.Stations, entry)
	}
	slices.Sort(d.Attribution)
	slices.Sort(d.Source)
}

// OptionalAQI returns an AQI for a reply. It returns nil for a negative number, which means that there is no AQI.
func OptionalAQI(aqi int16) *int {
	if aqi < 0 {
		return nil
	}
	n := int(aqi)
	return &n
}

// OfCity returns the city's stations of the given kinds as samples, sorted by distance from the centre of the city. The
// distance of a station without a position is -1, and these stations are the last.
func (s *Snapshot) OfCity(c *city, kinds aggregate.KindSet) []aggregate.Sample {
	out := make([]aggregate.Sample, 0, len(c.Stations))
	for _, i := range c.Stations {
		st := &s.Stations[i]
		if !kinds.Has(st.Kind) {
			continue
		}
		km := -1.0
		if st.Located() && c.Position.Known() {
			km = places.Distance(c.Position, st.Point())
		}
		out = append(out, aggregate.Sample{Station: i, KM: km, Figures: &st.Figures})
	}
	slices.SortStableFunc(out, func(a, b aggregate.Sample) int {
		if a.KM < 0 || b.KM < 0 {
			return cmp.Compare(b.KM, a.KM)
		}
		return int(a.KM*1000) - int(b.KM*1000)
	})
	return out
}

// reporting returns the stations of the city that have figures in the hour of the city's record,
// even without an AQI.
func (s *Snapshot) reporting(c *city) []aggregate.Sample {
	var out []aggregate.Sample
	for _, sm := range s.OfCity(c, s.Kinds) {
		st := &s.Stations[sm.Station]
		if st.At != c.At {
			if st.cityHourUpdated == 0 {
				continue
			}
			then := aggregate.NoFigures()
			then.At, then.Updated, then.AQI = c.At, st.cityHourUpdated, st.cityHourAQI
			sm.Figures = &then
		}
		out = append(out, sm)
	}
	return out
}

// CityDetail returns the answer with view=detail for city i, which must have figures.
func (s *Snapshot) CityDetail(i int, now time.Time) (httpapi.Response, error) {
	if d := s.details[i].Load(); d.valid(now) {
		return d.Response, nil
	}
	c := &s.Cities[i]
	detail := DetailOf(&c.Figures, now)
	detail.State = c.State
	made, err := s.detailed(c.Record(s.Index.Label(i)), detail, s.reporting(c), c.Updated)
	if err != nil {
		return httpapi.Response{}, err
	}
	s.details[i].Store(made)
	return made.Response, nil
}
