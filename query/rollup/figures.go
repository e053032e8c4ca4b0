// Package rollup reads the figures that roll-ups have stored in ClickHouse, and
// computes means of them.
package rollup

import (
	"time"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Records is the number of pollutants in a record.
const Records = len(air.RecordPollutants)

// Figures holds the values of a place in an hour or on a day. Element p-1 of amount
// and index is that of pollutant p. Amounts (concentrations) are of the record's
// six.
type Figures struct {
	At, Updated uint32 // Unix seconds; at is 0 if there are no figures
	Amount      [Records]schema.Figure
	Index       [len(air.Pollutants)]int16 // 0–500, -1 for none
	AQI         int16                      // -1 for none
	Dominant    air.Pollutant
	Used, Total uint16
	// Properties of amounts; bit p-1 is that of pollutant p. Derived amounts were
	// computed from a sub-index. Daily amounts are 24-hour means in place of 8-hour
	// means. Gap-filled amounts are those of another place.
	Derived, Daily, GapFilled uint8
}

// NoFigures returns figures without values.
func NoFigures() Figures {
	f := Figures{AQI: -1}
	for i := range f.Amount {
		f.Amount[i] = schema.Unknown
	}
	for i := range f.Index {
		f.Index[i] = -1
	}
	return f
}

// Missing returns the bits of the record's pollutants without an amount.
func (f *Figures) Missing() uint8 {
	var bits uint8
	for i, amount := range f.Amount {
		if !amount.Known() {
			bits |= 1 << i
		}
	}
	return bits
}

// ClearFilled removes amounts that gap filling took from another place.
func (f *Figures) ClearFilled() {
	for i := range f.Amount {
		if f.GapFilled&(1<<i) != 0 {
			f.Amount[i] = schema.Unknown
		}
	}
	f.GapFilled = 0
}

// FillFrom copies missing amounts from those of another place.
func (f *Figures) FillFrom(from *[Records]schema.Figure) {
	for i := range f.Amount {
		if !f.Amount[i].Known() && from[i].Known() {
			f.Amount[i] = from[i]
			f.GapFilled |= 1 << i
		}
	}
}

// Record returns the figures as a record. They must have an AQI.
func (f *Figures) Record(label string) air.Record {
	return air.Record{
		Status: schema.Success, City: label,
		AQI: int(f.AQI), Category: naqi.Category(int(f.AQI)),
		PM25: f.Amount[0], PM10: f.Amount[1], NO2: f.Amount[2], SO2: f.Amount[3], CO: f.Amount[4], O3: f.Amount[5],
		Dominant: f.Dominant.Label(), Updated: Instant(f.Updated),
	}
}

// Instant converts Unix seconds to a time in UTC.
func Instant(seconds uint32) time.Time { return time.Unix(int64(seconds), 0).UTC() }

// StaleAfter is the age beyond which a record is marked stale.
const StaleAfter = 3 * time.Hour
