package scale

import (
	"math"
	"slices"

	"vayu/schema/air"
)

const (
	whoSource = "WHO global air quality guidelines, Geneva 2021, tables 0.1 and 0.2"
	whoMethod = "Ratio of the 24-hour means of PM2.5, PM10, NO2 and SO2, and of the largest 8-hour means of O3 and CO, to WHO's guideline for that interval. " +
		"The index is the largest ratio. The category is the strictest interim target that is met. WHO defines no colours."
	whoReason = "No pollutant has a mean over the interval of its guideline."
)

// whoCategories are the levels of the guidelines, the strictest first. WHO gives the least strict target the number 1.
var whoCategories = [...]Category{
	{"Guideline met", ""}, {"Interim target 4 met", ""}, {"Interim target 3 met", ""}, {"Interim target 2 met", ""}, {"Interim target 1 met", ""},
	{"Above interim target 1", ""},
}

// guideline has the concentration of a guideline (`level`), and its interim targets: target 1, the highest, is first.
type guideline struct {
	pollutant air.Pollutant
	daily     bool // for CO and O3: the guideline is for the mean over 24 hours
	level     float64
	targets   []float64
}

// guidelines are those of tables 0.1 (24 hours; O3 8 hours) and 0.2 (CO 8 hours) of WHO's guidelines (whoSource). WHO
// has no guideline for a mean of O3 over 24 hours.
var guidelines = [...]guideline{
	{air.PM25, false, 15, []float64{75, 50, 37.5, 25}},
	{air.PM10, false, 45, []float64{150, 100, 75, 50}},
	{air.NO2, false, 25, []float64{120, 50}},
	{air.SO2, false, 40, []float64{125, 50}},
	{air.CO, false, 10, nil},
	{air.CO, true, 4, []float64{7}},
	{air.O3, false, 100, []float64{160, 120}},
}

// category returns the category of a concentration by the levels of the guideline.
func (g *guideline) category(value float64) Category {
	if value <= g.level {
		return whoCategories[0]
	}
	for i, target := range slices.Backward(g.targets) {
		if value <= target {
			return whoCategories[4-i]
		}
	}
	return whoCategories[5]
}

// who divides each concentration of a place by WHO's guideline for the pollutant, and returns the largest ratio.
func who(p *Place) Result {
	var parts []Part
	for i := range guidelines {
		g := &guidelines[i]
		value := p.Mean[g.pollutant-1]
		if math.IsNaN(value) || value < 0 || g.daily != p.daily(g.pollutant) {
			continue
		}
		averaging := "24h"
		if !g.daily && (g.pollutant == air.CO || g.pollutant == air.O3) {
			averaging = "max8h"
		}
		parts = append(parts, Part{
			Pollutant: g.pollutant, Index: value / g.level, Value: value, Category: g.category(value), Unit: g.pollutant.Unit(), Averaging: averaging,
		})
	}
	if len(parts) == 0 {
		return Result{Reason: whoReason}
	}
	return worst(parts)
}
