package aggregate

import (
	"math"
	"time"

	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
)

// Sample has the figures of a station, and its distance and weight in an interpolation.
type Sample struct {
	Station int32
	KM      float64
	Weight  float64
	Figures *Figures
}

// InterpolationWindow is the maximum time, in seconds, between the hours of two stations in an interpolation.
const InterpolationWindow = uint32(StaleAfter / time.Second)

// WeightedMean returns the weighted mean of the samples whose hour is within InterpolationWindow of
// the newest hour. It also returns these samples. Each sample must have an AQI.
func WeightedMean(samples []Sample) (Figures, []Sample) {
	var newest uint32
	for _, s := range samples {
		newest = max(newest, s.Figures.At)
	}
	used := make([]Sample, 0, len(samples))
	out := NoFigures()
	out.At = newest
	var aqi, weights float64
	for _, s := range samples {
		if s.Figures.At+InterpolationWindow < newest {
			continue
		}
		used = append(used, s)
		aqi += s.Weight * float64(s.Figures.AQI)
		weights += s.Weight
		out.Updated = max(out.Updated, s.Figures.Updated)
		out.Derived |= s.Figures.Derived
		out.Daily |= s.Figures.Daily
	}
	out.Used = uint16(min(len(used), math.MaxUint16))
	out.Total = out.Used // samples of other hours do not count in Total
	out.AQI = int16(HalfUp(aqi / weights))
	lead := -1.0
	for _, p := range air.Pollutants {
		mean, ok := weightedIndex(used, p)
		if !ok {
			continue
		}
		out.Index[p-1] = int16(HalfUp(mean))
		if mean > lead {
			lead, out.Dominant = mean, p
		}
	}
	for i := range out.Concentrations {
		out.Concentrations[i] = weightedConcentration(used, func(f *Figures) schema.Figure { return f.Concentrations[i] })
	}
	for i := range out.OtherConcentrations {
		out.OtherConcentrations[i] = weightedConcentration(used, func(f *Figures) schema.Figure { return f.OtherConcentrations[i] })
	}
	return out, used
}

// HalfUp rounds to the nearest integer, and rounds a half up. It adds a small tolerance, so that an
// inexact sum of weights does not make it round a half down.
func HalfUp(v float64) float64 { return math.Floor(v + 0.5 + 1e-9) }

func weightedIndex(used []Sample, p air.Pollutant) (float64, bool) {
	var sum, weights float64
	for _, s := range used {
		if v := s.Figures.Index[p-1]; v >= 0 {
			sum += s.Weight * float64(v)
			weights += s.Weight
		}
	}
	return sum / weights, weights > 0
}

func weightedConcentration(used []Sample, amount func(*Figures) schema.Figure) schema.Figure {
	var sum, weights float64
	for _, s := range used {
		if v := amount(s.Figures); v.Known() {
			sum += s.Weight * float64(v)
			weights += s.Weight
		}
	}
	if weights == 0 {
		return schema.Unknown
	}
	return schema.Figure(HalfUp(sum / weights))
}

// Mean returns the figures of a city from its stations in one hour, with the rules of pipeline/airquality. The AQI is
// the mean of the station AQIs, rounded half up. The pollutant with the largest mean sub-index is dominant. The mean
// concentrations include stations without an AQI. At least one sample must have an AQI.
func Mean(samples []Sample) Figures {
	out := NoFigures()
	var aqi, used int
	for _, sm := range samples {
		f := sm.Figures
		out.At, out.Updated = max(out.At, f.At), max(out.Updated, f.Updated)
		out.Derived |= f.Derived
		out.Daily |= f.Daily
		if f.AQI >= 0 {
			aqi += int(f.AQI)
			used++
		}
	}
	out.AQI = int16(naqi.Mean(aqi, used))
	out.Used, out.Total = uint16(min(used, math.MaxUint16)), uint16(min(len(samples), math.MaxUint16))
	largest := -1.0
	for _, p := range naqi.Precedence {
		sum, n, led := 0, 0, 0
		for _, sm := range samples {
			if sm.Figures.AQI < 0 {
				continue
			}
			if v := sm.Figures.Index[p-1]; v >= 0 {
				sum += int(v)
				n++
			}
			if sm.Figures.Dominant == p {
				led++
			}
		}
		if n == 0 {
			continue
		}
		out.Index[p-1] = int16(naqi.Mean(sum, n))
		// If two pollutants have equal mean sub-indices, the one that is dominant at more stations wins.
		if m := float64(sum)/float64(n) + float64(led)/1e7; m > largest {
			largest, out.Dominant = m, p
		}
	}
	for i := range out.Concentrations {
		out.Concentrations[i] = meanConcentration(samples, func(f *Figures) schema.Figure { return f.Concentrations[i] })
	}
	for i := range out.OtherConcentrations {
		out.OtherConcentrations[i] = meanConcentration(samples, func(f *Figures) schema.Figure { return f.OtherConcentrations[i] })
	}
	return out
}

func meanConcentration(samples []Sample, amount func(*Figures) schema.Figure) schema.Figure {
	sum, n := int64(0), int64(0)
	for _, sm := range samples {
		if v := amount(sm.Figures); v.Known() {
			sum += int64(v)
			n++
		}
	}
	if n == 0 {
		return schema.Unknown
	}
	return schema.Figure((2*sum + n) / (2 * n))
}

// CountRated returns the number of samples with an AQI.
func CountRated(samples []Sample) (n int) {
	for _, sm := range samples {
		if sm.Figures.AQI >= 0 {
			n++
		}
	}
	return n
}
