package naqi

import (
	"math"
	"slices"

	"vayu/schema/air"
)

// SubIndex returns the sub-index (0–500) of a concentration of p. The concentration is in p's own unit: mg/m³ for CO,
// otherwise µg/m³. It must be a mean over 24 hours; over 8 hours for O3 and CO. SubIndex returns false if p is invalid,
// or if the concentration is negative or NaN.
func SubIndex(p air.Pollutant, concentration float64) (int, bool) {
	if !p.Valid() || !(concentration >= 0) {
		return 0, false
	}
	edge := breakpoint[p]
	if concentration >= float64(edge[6])/micro {
		return MaxIndex, true
	}
	m := int64(math.Floor(concentration*micro + 0.5))
	band := 1
	for m > edge[band] {
		band++
	}
	width, rise := edge[band]-edge[band-1], indexEdge[band]-indexEdge[band-1]
	return int(indexEdge[band-1] + (2*rise*(m-edge[band-1])+width)/(2*width)), true
}

// Lead returns the sub-index of a concentration without rounding and without the limit of 500. If two pollutants have
// equal sub-indices, the pollutant with the larger Lead is dominant. Lead returns 0 where [SubIndex] returns false.
func Lead(p air.Pollutant, concentration float64) float64 {
	if !p.Valid() || !(concentration >= 0) {
		return 0
	}
	edge := breakpoint[p]
	band := 1
	for band < len(edge)-1 && concentration > float64(edge[band])/micro {
		band++
	}
	width, rise := float64(edge[band]-edge[band-1])/micro, float64(indexEdge[band]-indexEdge[band-1])
	return float64(indexEdge[band-1]) + (concentration-float64(edge[band-1])/micro)*rise/width
}

// Inverse returns the concentration of p that has a given sub-index. The concentration is in p's own unit, rounded to
// thousandths. Inverse returns false for an index outside 0–500 and for an invalid p.
func Inverse(p air.Pollutant, index int) (float64, bool) {
	if !p.Valid() || index < 0 || index > MaxIndex {
		return 0, false
	}
	band := 1
	for int64(index) > indexEdge[band] {
		band++
	}
	edge := breakpoint[p]
	width, rise := edge[band]-edge[band-1], indexEdge[band]-indexEdge[band-1]
	const thousandth = micro / 1000
	m := edge[band-1]*rise + width*(int64(index)-indexEdge[band-1])
	return float64((2*m+rise*thousandth)/(2*rise*thousandth)) / 1000, true
}

// SubIndices has the sub-index (0–500) of each pollutant, or -1 if the sub-index is missing. The index in the array is
// the [air.Pollutant].
type SubIndices [air.Pb + 1]int

// None returns SubIndices in which every sub-index is missing.
func None() SubIndices {
	var s SubIndices
	for i := range s {
		s[i] = -1
	}
	return s
}

// Precedence decides which pollutant is dominant if several have the largest sub-index: the first of them in this list.
// If PM10 and PM2.5 are equal, CPCB names PM10. This happens: in a recording of CPCB's feed, they are equal at two of
// 191 stations.
var Precedence = [...]air.Pollutant{
	air.PM10, air.PM25, air.NO2, air.SO2, air.CO, air.O3, air.NH3, air.Pb,
}

// Index returns the AQI, which is the largest sub-index, and the dominant pollutant. If several pollutants have the
// largest sub-index, the first of them in [Precedence] is dominant. A caller that has concentrations should choose the
// dominant pollutant by [Lead]. Index returns false for fewer than three sub-indices, or if PM2.5 and PM10 are missing.
func Index(s SubIndices) (aqi int, dominant air.Pollutant, ok bool) {
	count := 0
	aqi = -1
	for _, p := range Precedence {
		if s[p] < 0 {
			continue
		}
		count++
		if s[p] > aqi {
			aqi, dominant = s[p], p
		}
	}
	if count < MinPollutants || (s[air.PM25] < 0 && s[air.PM10] < 0) {
		return 0, 0, false
	}
	return aqi, dominant, true
}

// Mean returns the mean of `n` indices whose sum is `sum`, rounded half up. A city's AQI is the mean of its stations'
// AQIs (footnote of CPCB's daily bulletin).
func Mean(sum, n int) int { return (2*sum + n) / (2 * n) }

// Category returns the health category of an index. The upper limits are Good 50, Satisfactory 100, Moderate 200, Poor
// 300 and Very Poor 400. A higher index is Severe.
func Category(aqi int) string {
	for i, name := range categories {
		if int64(aqi) <= indexEdge[i+1] {
			return name
		}
	}
	return categories[len(categories)-1]
}

// Categories returns the health categories, from Good to Severe.
func Categories() []string { return slices.Clone(categories[:]) }

// Edge returns the largest index of a category, and false for an unknown category.
func Edge(category string) (int, bool) {
	i := slices.Index(categories[:], category)
	if i < 0 {
		return 0, false
	}
	return int(indexEdge[i+1]), true
}

var categories = [...]string{"Good", "Satisfactory", "Moderate", "Poor", "Very Poor", "Severe"}

// Health returns CPCB's statement of the likely health impacts of a category
// (National Air Quality Index, table of health statements).
func Health(category string) string { return healthStatements[category] }

var healthStatements = map[string]string{
	"Good":         "Minimal impact.",
	"Satisfactory": "May cause minor breathing discomfort to sensitive people.",
	"Moderate":     "May cause breathing discomfort to people with lung disease such as asthma, and discomfort to people with heart disease, children and older adults.",
	"Poor":         "May cause breathing discomfort to people on prolonged exposure, and discomfort to people with heart disease.",
	"Very Poor":    "May cause respiratory illness to people on prolonged exposure. Effect may be more pronounced in people with lung and heart diseases.",
	"Severe":       "May cause respiratory impact even on healthy people, and serious health impacts on people with lung or heart disease. The health impacts may be experienced even during light physical activity.",
}
