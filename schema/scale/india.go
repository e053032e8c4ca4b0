package scale

import (
	"math"

	"vayu/schema/air"
	"vayu/schema/naqi"
)

const (
	indiaSource = "Central Pollution Control Board, National Air Quality Index, CUPS/82/2014-15"
	indiaMethod = "India's index of the record. The index of a pollutant is that of the mean concentration of the place, and continues above 500 with the slope of the last band."
)

// indiaCategories returns CPCB's categories. CPCB prints the categories in colours, but does not publish the RGB
// values. The values here are those that reports about CPCB's AQI commonly use.
func indiaCategories() []Category {
	colors := [...]string{"#00B050", "#92D050", "#FFFF00", "#FF9900", "#FF0000", "#C00000"}
	out := make([]Category, len(colors))
	for i, name := range naqi.Categories() {
		out[i] = Category{name, colors[i]}
	}
	return out
}

func indiaCategory(index float64) Category {
	all := indiaCategories()
	for _, c := range all {
		if edge, _ := naqi.Edge(c.Name); index <= float64(edge) {
			return c
		}
	}
	return all[len(all)-1]
}

// india returns India's index of a place, at most 500. The indices in Parts can be higher (see the function `beyond`).
func india(p *Place) Result {
	r := Result{Reason: "There are too few readings for India's index."}
	if p.AQI >= 0 {
		r = Result{Known: true, Index: float64(p.AQI), Category: indiaCategory(float64(p.AQI)), Dominant: p.Dominant}
	}
	for _, of := range air.Pollutants {
		value := p.Mean[of-1]
		if math.IsNaN(value) || value < 0 {
			continue
		}
		averaging := "24h"
		if (of == air.CO || of == air.O3) && !p.daily(of) {
			averaging = "max8h"
		}
		index := beyond(of, value)
		r.Parts = append(r.Parts, Part{
			Pollutant: of, Index: index, Value: value, Category: indiaCategory(index), Unit: of.Unit(), Averaging: averaging,
		})
	}
	return r
}

// beyond returns the sub-index of a concentration. Above 500 it continues with the slope of the last band.
func beyond(of air.Pollutant, value float64) float64 {
	if index, _ := naqi.SubIndex(of, value); index < naqi.MaxIndex {
		return float64(index)
	}
	return max(naqi.MaxIndex, math.Floor(naqi.Lead(of, value)+0.5))
}

// Uncapped returns India's index of a place without the limit of 500. It differs from the index only if the mean
// concentration of a pollutant is beyond the end of the scale.
func Uncapped(p *Place) int {
	top := float64(p.AQI)
	for _, of := range air.Pollutants {
		if value := p.Mean[of-1]; value >= 0 {
			if index := beyond(of, value); index > naqi.MaxIndex {
				top = max(top, index)
			}
		}
	}
	return int(top)
}
