package query

import (
	"math"
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

// sample is a station's figures with its distance and weight.
type sample struct {
	station int32
	km      float64
	weight  float64
	figures *figures
}

// interpolationWindow is how much older than the newest hour a station's hour may
// be in an interpolation, in seconds.
const interpolationWindow = uint32(StaleAfter / time.Second)

// weightedMean returns the weighted mean of the samples within interpolationWindow
// of the newest hour, and these samples. Each sample must have an AQI.
func weightedMean(samples []sample) (figures, []sample) {
	var newest uint32
	for _, s := range samples {
		newest = max(newest, s.figures.at)
	}
	used := make([]sample, 0, len(samples))
	out := noFigures()
	out.at = newest
	var aqi, weights float64
	for _, s := range samples {
		if s.figures.at+interpolationWindow < newest {
			continue
		}
		used = append(used, s)
		aqi += s.weight * float64(s.figures.aqi)
		weights += s.weight
		out.updated = max(out.updated, s.figures.updated)
		out.derived |= s.figures.derived
		out.daily |= s.figures.daily
	}
	out.used = uint16(min(len(used), math.MaxUint16))
	out.total = out.used // samples of other hours do not count
	out.aqi = int16(halfUp(aqi / weights))
	lead := -1.0
	for _, p := range schema.Pollutants {
		mean, ok := weightedIndex(used, p)
		if !ok {
			continue
		}
		out.index[p-1] = int16(halfUp(mean))
		if mean > lead {
			lead, out.dominant = mean, p
		}
	}
	for i := range out.amount {
		out.amount[i] = weightedAmount(used, i)
	}
	return out, used
}

// halfUp rounds half-up. The tolerance keeps a tie from rounding down when the sum
// of weights is inexact.
func halfUp(v float64) float64 { return math.Floor(v + 0.5 + 1e-9) }

func weightedIndex(used []sample, p schema.Pollutant) (float64, bool) {
	var sum, weights float64
	for _, s := range used {
		if v := s.figures.index[p-1]; v >= 0 {
			sum += s.weight * float64(v)
			weights += s.weight
		}
	}
	return sum / weights, weights > 0
}

func weightedAmount(used []sample, i int) schema.Figure {
	var sum, weights float64
	for _, s := range used {
		if v := s.figures.amount[i]; v.Known() {
			sum += s.weight * float64(v)
			weights += s.weight
		}
	}
	if weights == 0 {
		return schema.Unknown
	}
	return schema.Figure(halfUp(sum / weights))
}
