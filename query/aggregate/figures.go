// Package aggregate reads figures (concentrations and indices) of stations and cities from ClickHouse, and computes
// means of them. The roll-up is the job that computes these figures from readings and stores them.
package aggregate

import (
	"time"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Records is the number of pollutants whose concentration each record has. Others is the number of further pollutants
// of the index: NH3 and Pb. Only a detailed record has their concentration.
const (
	Records = len(air.RecordPollutants)
	Others  = len(air.Pollutants) - Records
)

// Figures has the values of a place in an hour or on a day. Concentrations has those of the [air.RecordPollutants], and
// OtherConcentrations those of NH3 and Pb. Index has the sub-indices of all pollutants. Element p-1 of Concentrations
// and Index is the value of pollutant p. Concentrations are in hundredths of mg/m³ for CO, and of µg/m³ for others.
type Figures struct {
	At, Updated         uint32 // Unix seconds; At is 0 if there are no figures
	Concentrations      [Records]schema.Figure
	OtherConcentrations [Others]schema.Figure
	Index               [len(air.Pollutants)]int16 // 0–500, -1 for none
	AQI                 int16                      // -1 for none
	Dominant            air.Pollutant
	Used, Total         uint16
	// These are sets of pollutants; bit p-1 is for pollutant p. A bit of Derived means that a concentration was
	// computed from a sub-index. A bit of Daily means that the concentration is a 24-hour mean and not an 8-hour mean.
	// A bit of GapFilled means that the concentration is from another place.
	Derived, Daily, GapFilled uint8
}

// NoFigures returns figures in which every value is missing.
func NoFigures() Figures {
	f := Figures{AQI: -1}
	for i := range f.Concentrations {
		f.Concentrations[i] = schema.Unknown
	}
	for i := range f.OtherConcentrations {
		f.OtherConcentrations[i] = schema.Unknown
	}
	for i := range f.Index {
		f.Index[i] = -1
	}
	return f
}

// Stale reports whether the last reading is older than StaleAfter at the time `now`, or whether there is none.
func (f *Figures) Stale(now time.Time) bool {
	return f.At == 0 || now.Sub(Instant(f.Updated)) > StaleAfter
}

// Concentration returns the concentration of a pollutant of the index; it may be unknown.
func (f *Figures) Concentration(p air.Pollutant) schema.Figure {
	if i := int(p) - 1; i < Records {
		return f.Concentrations[i]
	}
	return f.OtherConcentrations[int(p)-1-Records]
}

// Measured returns the concentration of a pollutant of the index. It returns nil if the concentration is unknown.
func (f *Figures) Measured(p air.Pollutant) *schema.Figure {
	if amount := f.Concentration(p); amount.Known() {
		return &amount
	}
	return nil
}

// Missing returns the set of the record's pollutants that have no concentration; bit p-1 is for pollutant p.
func (f *Figures) Missing() uint8 {
	var bits uint8
	for i, amount := range f.Concentrations {
		if !amount.Known() {
			bits |= 1 << i
		}
	}
	return bits
}

// ClearFilled removes the concentrations that gap filling has copied from another place.
func (f *Figures) ClearFilled() {
	for i := range f.Concentrations {
		if f.GapFilled&(1<<i) != 0 {
			f.Concentrations[i] = schema.Unknown
		}
	}
	f.GapFilled = 0
}

// FillFrom fills each missing concentration with that of another place, and marks it in GapFilled.
func (f *Figures) FillFrom(from *[Records]schema.Figure) {
	for i := range f.Concentrations {
		if !f.Concentrations[i].Known() && from[i].Known() {
			f.Concentrations[i] = from[i]
			f.GapFilled |= 1 << i
		}
	}
}

// Record returns the figures as a record (an entry of a reply) of the place `label`. The figures
// must have an AQI.
func (f *Figures) Record(label string) air.Record {
	return air.Record{
		Status: schema.Success, City: label,
		AQI: int(f.AQI), Category: naqi.Category(int(f.AQI)),
		PM25: f.Concentrations[0], PM10: f.Concentrations[1], NO2: f.Concentrations[2], SO2: f.Concentrations[3], CO: f.Concentrations[4], O3: f.Concentrations[5],
		Dominant: f.Dominant.Label(), Updated: Instant(f.Updated),
	}
}

// Instant converts Unix seconds to a time in UTC.
func Instant(seconds uint32) time.Time { return time.Unix(int64(seconds), 0).UTC() }

// StaleAfter is the age of the last reading beyond which replies mark a record as stale.
const StaleAfter = 3 * time.Hour
