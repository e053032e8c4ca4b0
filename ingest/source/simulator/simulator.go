package simulator

import (
	"context"
	"fmt"
	"math"
	"time"

	"vayu/ingest"
	"vayu/schema"
	"vayu/schema/air"
)

// Source generates readings for any past time.
type Source struct{ name string }

// pollutants are the seven pollutants that most Indian stations measure. Few measure lead.
var pollutants = [...]air.Pollutant{air.PM25, air.PM10, air.NO2, air.SO2, air.CO, air.O3, air.NH3}

// Fetch implements [ingest.Source]. It generates readings for every hour that ends after w.From and not after w.To.
// Hours are those of Indian time.
func (s *Source) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	first := schema.HourEnd(w.From)
	if !first.After(w.From) {
		first = first.Add(time.Hour)
	}
	hours := hoursFrom(first, w.To)
	if len(hours) == 0 {
		return nil
	}
	b := ingest.NewBuilder(s.name, w.To, yield)
	for _, c := range cities() {
		if err := s.city(ctx, b, c, hours); err != nil {
			b.Discard()
			return err
		}
	}
	return b.Close()
}

// hour is an hour, with the values that all cities have in common.
type hour struct {
	end     time.Time
	number  int64   // hours since 1970 in Indian time
	day     int64   // days since 1970 in Indian time
	of      int     // hour of the day at the start, 0-23
	year    float64 // time since the start of the year in months, 0-12
	weekend bool
	smoke   float64 // factor by which fireworks raise particle concentrations
}

func hoursFrom(first, to time.Time) []hour {
	var out []hour
	for end := first; !end.After(to); end = end.Add(time.Hour) {
		begin := end.Add(-time.Hour).In(schema.India)
		number := (begin.Unix() + int64(schema.IndiaOffset/time.Second)) / 3600
		weekday := begin.Weekday()
		out = append(out, hour{
			end: end, number: number, day: number / 24, of: begin.Hour(),
			year:    float64(begin.YearDay()-1) / 365.25 * 12,
			weekend: weekday == time.Saturday || weekday == time.Sunday,
			smoke:   fireworksFactor(begin),
		})
	}
	return out
}

// city adds the readings of a city's stations in the given hours to b.
func (s *Source) city(ctx context.Context, b *ingest.Builder, c city, hours []hour) error {
	var curves [len(pollutants)][]float64
	for i, p := range pollutants {
		curves[i] = c.curve(p, hours)
	}
	for n := 1; n <= c.stations; n++ {
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
		station := c.station(n)
		seed := hashText(station.ID)
		number := b.Station(station)
		down := silentHours(seed, hours)
		for i, p := range pollutants {
			if err := addCurve(b, number, p, mix(seed+uint64(p)), curves[i], hours, down); err != nil {
				return err
			}
		}
	}
	return nil
}

// addCurve adds the readings of a pollutant at a station. A value is the city's value, multiplied by a factor of the
// station and by random noise. Some hours have no reading.
func addCurve(b *ingest.Builder, station int, p air.Pollutant, seed uint64, curve []float64, hours []hour, down []bool) error {
	level := 0.75 + 0.5*unit(seed) // the factor of the station: low in a park, high at a crossing
	scale := 10.0                  // one decimal, as instruments report; CO has two
	if p == air.CO {
		scale = 100
	}
	for i := range hours {
		h := mix(seed ^ uint64(hours[i].number)*0x9e3779b97f4a7c15)
		if down[i] || h%97 == 0 { // one hour in 97 has no reading, as during a calibration
			continue
		}
		noise := 0.9 + 0.2*unit(h)
		value := math.Round(curve[i]*level*noise*scale) / scale
		err := b.Add(station, air.Reading{
			Parameter: p.Parameter(), At: hours[i].end, Value: value, Kind: air.Concentration, Averaging: air.Hourly,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// silentHours reports, for each hour, whether the station sends nothing. On one day in 25, a station sends nothing for
// two to nine hours.
func silentHours(seed uint64, hours []hour) []bool {
	down := make([]bool, len(hours))
	for i := range hours {
		h := mix(seed ^ uint64(hours[i].day)*0xd1b54a32d192ed03)
		if h%25 != 0 {
			continue
		}
		begin, length := int(h>>8%16), 2+int(h>>16%8)
		down[i] = hours[i].of >= begin && hours[i].of < begin+length
	}
	return down
}

// station returns the station number n of the city. Its name states that it is simulated.
func (c city) station(n int) air.Station {
	seed := hashText(fmt.Sprint(c.name, c.state, n))
	return air.Station{
		ID:   air.StationID(Name, fmt.Sprintf("%s %s %d", c.name, c.state, n)),
		Name: fmt.Sprintf("%s Simulated Station %d", c.label, n),
		City: c.name, State: c.state,
		Latitude:  round4(c.latitude + 0.12*(unit(seed)-0.5)), // within some 7 km of the centre
		Longitude: round4(c.longitude + 0.12*(unit(mix(seed))-0.5)),
		Kind:      air.Reference, Attribution: "Simulated data", Licence: "none",
	}
}

func round4(x float64) float64 { return math.Round(x*1e4) / 1e4 }

// hashText hashes a text with FNV-1a, and the result with [mix].
func hashText(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

// mix hashes a number with the last step of the generator splitmix64. Every bit of x affects every bit of the result.
// It takes about a nanosecond.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// unit maps a hash to a number from 0 to below 1.
func unit(h uint64) float64 { return float64(h>>11) / (1 << 53) }
