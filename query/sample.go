package query

import (
	"math"
	"time"

	"vayu/schema"
	"vayu/schema/naqi"
)

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

// mean returns the figures of a city from its stations in one hour, by the rule of
// pipeline/airquality. The AQI is the mean of the station AQIs, half-up, and the
// pollutant with the largest mean sub-index is dominant. Concentrations include
// stations without an AQI. At least one sample must have an AQI.
func mean(samples []sample) figures {
	out := noFigures()
	var aqi, used int
	for _, sm := range samples {
		f := sm.figures
		out.at, out.updated = max(out.at, f.at), max(out.updated, f.updated)
		out.derived |= f.derived
		out.daily |= f.daily
		if f.aqi >= 0 {
			aqi += int(f.aqi)
			used++
		}
	}
	out.aqi = int16(naqi.Mean(aqi, used))
	out.used, out.total = uint16(min(used, math.MaxUint16)), uint16(min(len(samples), math.MaxUint16))
	largest := -1.0
	for _, p := range naqi.Precedence {
		sum, n, led := 0, 0, 0
		for _, sm := range samples {
			if sm.figures.aqi < 0 {
				continue
			}
			if v := sm.figures.index[p-1]; v >= 0 {
				sum += int(v)
				n++
			}
			if sm.figures.dominant == p {
				led++
			}
		}
		if n == 0 {
			continue
		}
		out.index[p-1] = int16(naqi.Mean(sum, n))
		// Of equal means the pollutant that is dominant at more stations wins.
		if m := float64(sum)/float64(n) + float64(led)/1e7; m > largest {
			largest, out.dominant = m, p
		}
	}
	for i := range out.amount {
		out.amount[i] = meanAmount(samples, i)
	}
	return out
}

func meanAmount(samples []sample, i int) schema.Figure {
	sum, n := int64(0), int64(0)
	for _, sm := range samples {
		if v := sm.figures.amount[i]; v.Known() {
			sum += int64(v)
			n++
		}
	}
	if n == 0 {
		return schema.Unknown
	}
	return schema.Figure((2*sum + n) / (2 * n))
}

// countRated returns the number of samples with an AQI.
func countRated(samples []sample) (n int) {
	for _, sm := range samples {
		if sm.figures.aqi >= 0 {
			n++
		}
	}
	return n
}
