package query

import (
	"time"

	"vayu/schema"
	"vayu/schema/naqi"
)

// records is the number of pollutants in a record.
const records = len(schema.RecordPollutants)

// figures holds the values of a place in an hour or on a day. Element p-1 of amount
// and index is that of pollutant p. Amounts (concentrations) are of the record's
// six.
type figures struct {
	at, updated uint32 // Unix seconds; at is 0 if there are no figures
	amount      [records]schema.Figure
	index       [len(schema.Pollutants)]int16 // 0–500, -1 for none
	aqi         int16                         // -1 for none
	dominant    schema.Pollutant
	used, total uint16
	// Properties of amounts; bit p-1 is that of pollutant p. Derived amounts were
	// computed from a sub-index. Daily amounts are 24-hour means in place of 8-hour
	// means. Gap-filled amounts are those of another place.
	derived, daily, gapFilled uint8
}

// noFigures returns figures without values.
func noFigures() figures {
	f := figures{aqi: -1}
	for i := range f.amount {
		f.amount[i] = schema.Unknown
	}
	for i := range f.index {
		f.index[i] = -1
	}
	return f
}

// missing returns the bits of the record's pollutants without an amount.
func (f *figures) missing() uint8 {
	var bits uint8
	for i, amount := range f.amount {
		if !amount.Known() {
			bits |= 1 << i
		}
	}
	return bits
}

// clearFilled removes amounts that gap filling took from another place.
func (f *figures) clearFilled() {
	for i := range f.amount {
		if f.gapFilled&(1<<i) != 0 {
			f.amount[i] = schema.Unknown
		}
	}
	f.gapFilled = 0
}

// fillFrom copies missing amounts from those of another place.
func (f *figures) fillFrom(from *[records]schema.Figure) {
	for i := range f.amount {
		if !f.amount[i].Known() && from[i].Known() {
			f.amount[i] = from[i]
			f.gapFilled |= 1 << i
		}
	}
}

// record returns the figures as a record. They must have an AQI.
func (f *figures) record(label string) schema.Record {
	return schema.Record{
		Status: schema.Success, City: label,
		AQI: int(f.aqi), Category: naqi.Category(int(f.aqi)),
		PM25: f.amount[0], PM10: f.amount[1], NO2: f.amount[2], SO2: f.amount[3], CO: f.amount[4], O3: f.amount[5],
		Dominant: f.dominant.Label(), Updated: instant(f.updated),
	}
}

func instant(seconds uint32) time.Time { return time.Unix(int64(seconds), 0).UTC() }

// StaleAfter is the age beyond which a record is marked stale.
const StaleAfter = 3 * time.Hour
