package scale

import (
	"math"

	"vayu/schema/air"
)

const (
	europeSource = "European Environment Agency, European Air Quality Index, bands of 2024 (ETC HE Report 2024/17), https://airindex.eea.europa.eu"
	europeMethod = "EEA's bands of 2024 for hourly means of PM2.5, PM10, NO2, O3 and SO2. The index is that of the worst pollutant. " +
		"A day has the largest hourly index of the day."
	europeReason = "The European index needs hourly means of NO2, and of PM2.5 or PM10."
)

// europeCategories are the levels 1 to 6 of the index and their colours in EEA's viewer.
var europeCategories = [...]Category{
	{"Good", "#50F0E6"}, {"Fair", "#50CCAA"}, {"Moderate", "#F0E641"}, {"Poor", "#FF5050"}, {"Very poor", "#960032"}, {"Extremely poor", "#7D2181"},
}

// europeBand has the pollutants of the index, and the upper limits of their first five levels in µg/m³. EEA prints
// whole numbers ("0–5", "6–15"). Here a limit belongs to the lower level, and the levels have no gaps.
var europeBand = [...]struct {
	pollutant air.Pollutant
	upper     [len(europeCategories) - 1]float64
}{
	{air.PM25, [...]float64{5, 15, 50, 90, 140}},
	{air.PM10, [...]float64{15, 45, 120, 195, 270}},
	{air.NO2, [...]float64{10, 25, 60, 100, 150}},
	{air.SO2, [...]float64{20, 40, 125, 190, 275}},
	{air.O3, [...]float64{60, 100, 120, 160, 180}},
}

// europe returns the European index of a place. The index requires NO2, and PM2.5 or PM10. EEA requires these
// pollutants even of stations beside roads, which measure the fewest.
func europe(p *Place) Result {
	var parts []Part
	var no2, particles bool
	for i := range europeBand {
		band := &europeBand[i]
		value, averaging := p.hourly(band.pollutant)
		if math.IsNaN(value) || value < 0 {
			continue
		}
		level := 0
		for level < len(band.upper) && value > band.upper[level] {
			level++
		}
		parts = append(parts, Part{
			Pollutant: band.pollutant, Index: float64(level + 1), Value: value, Category: europeCategories[level], Unit: "µg/m³", Averaging: averaging,
		})
		no2 = no2 || band.pollutant == air.NO2
		particles = particles || band.pollutant == air.PM25 || band.pollutant == air.PM10
	}
	if !no2 || !particles {
		return Result{Parts: parts, Reason: europeReason}
	}
	return worst(parts)
}
