package query

import (
	"math"
	"time"

	"vayu/schema"
	"vayu/schema/naqi"
)

// records is how many pollutants a record carries.
const records = len(schema.RecordPollutants)

// figures is a place in an hour or on a day. Slot p-1 of amount and index is
// pollutant p; amounts beyond the six of the record are not kept.
type figures struct {
	at, updated uint32 // Unix seconds; at 0: no figures at all
	amount      [records]schema.Figure
	index       [len(schema.Pollutants)]int16 // 0–500, -1 for none
	aqi         int16                         // -1 for none
	dominant    schema.Pollutant
	used, total uint16
	// Bit p-1 is set for pollutant p: the amount was derived from a sub-index;
	// a 24-hour mean stands in for 8 hours; it was borrowed from elsewhere.
	derived, daily, gapFilled uint8
}

// noFigures returns figures of nothing.
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

// missing returns the bits of the record's pollutants that have no amount.
func (f *figures) missing() uint8 {
	var bits uint8
	for i, amount := range f.amount {
		if !amount.Known() {
			bits |= 1 << i
		}
	}
	return bits
}

// clearFilled takes back what was borrowed.
func (f *figures) clearFilled() {
	for i := range f.amount {
		if f.gapFilled&(1<<i) != 0 {
			f.amount[i] = schema.Unknown
		}
	}
	f.gapFilled = 0
}

// fillFrom fills what is missing from another place's amounts.
func (f *figures) fillFrom(from *[records]schema.Figure) {
	for i := range f.amount {
		if !f.amount[i].Known() && from[i].Known() {
			f.amount[i] = from[i]
			f.gapFilled |= 1 << i
		}
	}
}

// record returns the record of spec 2.1. The figures must have an AQI.
func (f *figures) record(label string) schema.Record {
	return schema.Record{
		Status: schema.Success, City: label,
		AQI: int(f.aqi), Category: naqi.Category(int(f.aqi)),
		PM25: f.amount[0], PM10: f.amount[1], NO2: f.amount[2], SO2: f.amount[3], CO: f.amount[4], O3: f.amount[5],
		Dominant: f.dominant.Label(), Updated: instant(f.updated),
	}
}

func instant(seconds uint32) time.Time { return time.Unix(int64(seconds), 0).UTC() }

// sample is a station's figures and how far away it is.
type sample struct {
	station int32
	km      float64
	weight  float64
	figures *figures
}

// interpolationWindow is how much older than the newest a station's hour may be to be
// mixed with it, in seconds.
const interpolationWindow = uint32(StaleAfter / time.Second)

// weightedMean returns the weighted mean of the samples that are as fresh as the newest.
// Each must have an AQI; it returns those that it used.
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
	out.total = out.used // others did not report then
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

// halfUp rounds half-up; the tolerance keeps sums of weights that should be a
// tie from falling below it.
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
