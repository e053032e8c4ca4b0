// Package scale computes air quality indices of other countries and organisations: the US Air Quality Index, the
// European Air Quality Index, and the ratio to WHO's guidelines. It also continues India's index above 500. India's
// index itself, which is both the default and the index for compliance, is in package naqi.
package scale

import (
	"math"
	"slices"

	"vayu/schema/air"
	"vayu/schema/parameter"
)

// Scale is an air quality index. The zero value is no scale.
type Scale uint8

// The scales.
const (
	India Scale = 1 + iota
	US
	Europe
	WHO
)

// description has the texts about a scale.
type description struct {
	id, name, method, source string
}

var descriptions = [...]description{
	India:  {"in", "National AQI (India)", indiaMethod, indiaSource},
	US:     {"us", "US EPA Air Quality Index", usMethod, usSource},
	Europe: {"eu", "European Air Quality Index", europeMethod, europeSource},
	WHO:    {"who", "WHO global air quality guidelines 2021", whoMethod, whoSource},
}

// IDs returns the identifiers of all scales.
func IDs() []string {
	var out []string
	for _, d := range descriptions[1:] {
		out = append(out, d.id)
	}
	return out
}

// Parse returns the scale of an identifier such as "us". It returns false for another text.
func Parse(id string) (Scale, bool) {
	i := slices.Index(IDs(), id)
	return Scale(i + 1), i >= 0
}

// ID returns the identifier of the scale in requests and replies.
func (s Scale) ID() string { return descriptions[s].id }

// Name returns the name of the scale in English.
func (s Scale) Name() string { return descriptions[s].name }

// Method returns a text that explains how the scale is computed from the concentrations of a place.
func (s Scale) Method() string { return descriptions[s].method }

// Source returns the citation of the document that defines the scale.
func (s Scale) Source() string { return descriptions[s].source }

// Hourly reports whether the scale needs hourly means.
func (s Scale) Hourly() bool { return s == US || s == Europe }

// Categories returns the categories of the scale, from the best to the worst.
func (s Scale) Categories() []Category {
	switch s {
	case India:
		return indiaCategories()
	case US:
		return usCategories[:]
	case Europe:
		return europeCategories[:]
	case WHO:
		return whoCategories[:]
	}
	return nil
}

// Category is a category of a scale. Color is its colour as #RRGGBB, or "" if the source of the scale defines none.
type Category struct{ Name, Color string }

// Window is the number of hourly means in [Hours].
const Window = 24

// Hour has the mean of each pollutant of a record in one hour, in the unit of the pollutant. An unknown mean is NaN.
type Hour [len(air.RecordPollutants)]float64

// Unmeasured returns an Hour in which every mean is unknown.
func Unmeasured() (h Hour) {
	for i := range h {
		h[i] = math.NaN()
	}
	return h
}

// Hours has the hourly means of the last 24 hours, the newest first.
type Hours [Window]Hour

// column returns the hourly means of a pollutant, the newest first.
func (h *Hours) column(p air.Pollutant) (out [Window]float64) {
	for i := range out {
		out[i] = math.NaN()
		if h != nil {
			out[i] = h[i][p-1]
		}
	}
	return out
}

// Place has the concentrations and India's AQI of a place at the end of an hour or of a day.
type Place struct {
	// Day is true if the values are for a day. Hours then has the hours of the day.
	Day bool
	// Mean has the means over 24 hours, and for CO and O3 the largest mean over 8 hours, in the unit of the pollutant.
	// NaN is an unknown mean. Element p-1 is that of pollutant p.
	Mean [len(air.Pollutants)]float64
	// DailyMean is a set of bits for CO and O3. If bit p-1 is 1, Mean has a 24-hour mean of pollutant p instead of the
	// usual 8-hour mean.
	DailyMean uint8
	Hours     *Hours // nil if the hourly means are unknown
	// AQI and Dominant are those of India's index. AQI is negative if there is none.
	AQI      int
	Dominant air.Pollutant
}

// daily reports whether Mean has a 24-hour mean for a pollutant (CO or O3) instead of the usual 8-hour mean.
func (p *Place) daily(of air.Pollutant) bool { return p.DailyMean&(1<<(of-1)) != 0 }

// Part is the index of one pollutant. Value is the concentration from which the index is computed, in Unit. Averaging
// is the interval of Value: 1h, 8h, 24h, nowcast, or max1h for the largest hourly mean of a day.
type Part struct {
	Pollutant       air.Pollutant
	Index, Value    float64
	Category        Category
	Unit, Averaging string
}

// Result is the index of a place. If Known is false, Reason says which data are missing.
type Result struct {
	Known    bool
	Index    float64
	Category Category
	Dominant air.Pollutant
	Parts    []Part
	Reason   string
}

// Of returns the index of a place.
func (s Scale) Of(p *Place) Result {
	switch s {
	case India:
		return india(p)
	case US:
		return us(p)
	case Europe:
		return europe(p)
	case WHO:
		return who(p)
	}
	return Result{}
}

// worst returns a result with the index, category and pollutant of the part with the highest index. If several parts
// have the highest index, it uses the first of them.
func worst(parts []Part) Result {
	r := Result{Known: true, Index: -1, Parts: parts}
	for _, part := range parts {
		if part.Index > r.Index {
			r.Index, r.Category, r.Dominant = part.Index, part.Category, part.Pollutant
		}
	}
	return r
}

// minDayHours is how many of the 24 hourly means of a day must be known to determine the largest one. It is 75 %, as in
// EU and US rules.
const minDayHours = 18

// largest returns the largest of the hourly means, or NaN if fewer than minDayHours are known.
func largest(hours *[Window]float64) float64 {
	top, n := math.Inf(-1), 0
	for _, v := range hours {
		if !math.IsNaN(v) {
			top, n = max(top, v), n+1
		}
	}
	if n < minDayHours {
		return math.NaN()
	}
	return top
}

// recent is the number of newest hours among which the function latest looks for a mean. It is three, because records
// are stale after three hours.
const recent = 3

// latest returns the latest known mean of the last three hours (recent), or NaN if there is none.
func latest(hours *[Window]float64) float64 {
	for _, v := range hours[:recent] {
		if !math.IsNaN(v) {
			return v
		}
	}
	return math.NaN()
}

// hourly returns the latest hourly mean (for a day, the largest one), or NaN for none, and the averaging interval.
func (p *Place) hourly(of air.Pollutant) (value float64, averaging string) {
	hours := p.Hours.column(of)
	if p.Day {
		return largest(&hours), "max1h"
	}
	return latest(&hours), "1h"
}

// ppb converts a concentration of a gas in its own unit to ppb at 25 °C and 1013 hPa (24.45 l/mol), as EPA and CPCB do.
func ppb(of air.Pollutant, value float64) float64 {
	value *= parameter.MolarVolume / of.Parameter().MolarMass()
	if of == air.CO { // in mg/m³
		value *= 1000
	}
	return value
}
