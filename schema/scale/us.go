package scale

import (
	"math"

	"vayu/schema/air"
)

const (
	usSource = "US EPA, Technical Assistance Document for the Reporting of Daily Air Quality, EPA-454/B-24-002, May 2024, table 6"
	usMethod = "EPA's breakpoints of 2024. An hour uses the NowCast of PM2.5 and PM10, the 8-hour means of O3 and CO, and the 1-hour means of NO2 and SO2. " +
		"A day uses 24-hour means of PM2.5 and PM10, the largest 8-hour means of O3 and CO, and the largest 1-hour means of NO2 and SO2. " +
		"Without hourly means, an hour uses the 24-hour means of PM2.5 and PM10, and the largest 8-hour means of O3 and CO in 24 hours. Gases are converted at 25 °C."
	usReason = "The US index needs PM2.5, PM10 or O3."
)

// usCategories are the categories and colours of tables 1 and 2 of EPA's document (usSource).
var usCategories = [...]Category{
	{"Good", "#00E400"}, {"Moderate", "#FFFF00"}, {"Unhealthy for Sensitive Groups", "#FF7E00"},
	{"Unhealthy", "#FF0000"}, {"Very Unhealthy", "#8F3F97"}, {"Hazardous", "#7E0023"},
}

// usEdges has the first and the last index of each category. The last category continues beyond 500 ("beyond the AQI").
var usEdges = [len(usCategories)][2]int{{0, 50}, {51, 100}, {101, 150}, {151, 200}, {201, 300}, {301, 500}}

// usTable has the breakpoints of a pollutant and averaging interval: the first and the last concentration of each
// category, as numbers of steps. A step is the precision of EPA's table, such as 0.1 µg/m³. EPA truncates a
// concentration to whole steps, so there are no gaps between the bands.
type usTable struct {
	first int // index in usEdges of the category of the first band
	bands [][2]int
	steps float64 // number of steps per unit
	unit  string
}

// The breakpoints of table 6 of EPA's document (usSource). EPA prints O3 in ppm with three decimals, which are whole
// ppb.
var (
	usPM25 = usTable{0, [][2]int{{0, 90}, {91, 354}, {355, 554}, {555, 1254}, {1255, 2254}, {2255, 3254}}, 10, "µg/m³"}
	usPM10 = usTable{0, [][2]int{{0, 54}, {55, 154}, {155, 254}, {255, 354}, {355, 424}, {425, 604}}, 1, "µg/m³"}
	usO3   = usTable{0, [][2]int{{0, 54}, {55, 70}, {71, 85}, {86, 105}, {106, 200}}, 1, "ppb"} // 8 hours
	usO3h  = usTable{2, [][2]int{{125, 164}, {165, 204}, {205, 404}, {405, 604}}, 1, "ppb"}     // 1 hour
	usCO   = usTable{0, [][2]int{{0, 44}, {45, 94}, {95, 124}, {125, 154}, {155, 304}, {305, 504}}, 10, "ppm"}
	usSO2  = usTable{0, [][2]int{{0, 35}, {36, 75}, {76, 185}, {186, 304}}, 1, "ppb"} // 1 hour
	usSO2d = usTable{4, [][2]int{{305, 604}, {605, 1004}}, 1, "ppb"}                  // 24 hours
	usNO2  = usTable{0, [][2]int{{0, 53}, {54, 100}, {101, 360}, {361, 649}, {650, 1249}, {1250, 2049}}, 1, "ppb"}
)

// truncate returns a concentration truncated to whole steps. Floating point cannot represent a value such as 35.4
// exactly. The tolerance prevents its truncation to the step below.
func (t *usTable) truncate(value float64) int { return int(math.Floor(value*t.steps + 1e-6)) }

// index returns the index of a concentration, rounded to the nearest integer. It returns false for NaN and for a
// concentration below the first band of the table. If the last band of the table is Hazardous, the index continues
// above this band with the band's slope. Otherwise the result is false for a concentration above the last band.
func (t *usTable) index(value float64) (int, bool) {
	if math.IsNaN(value) || value < 0 {
		return 0, false
	}
	c := t.truncate(value)
	if c < t.bands[0][0] {
		return 0, false
	}
	for i, band := range t.bands {
		last := t.first+i == len(usEdges)-1
		if c > band[1] && !last {
			continue
		}
		low, high := usEdges[t.first+i][0], usEdges[t.first+i][1]
		width, rise := band[1]-band[0], high-low
		return low + (2*rise*(c-band[0])+width)/(2*width), true
	}
	return 0, false
}

func usCategory(index int) Category {
	for i, edge := range usEdges {
		if index <= edge[1] {
			return usCategories[i]
		}
	}
	return usCategories[len(usCategories)-1]
}

// us returns the US index of a place.
func us(p *Place) Result {
	var parts []Part
	add := func(of air.Pollutant, t *usTable, index int, value float64, averaging string) {
		parts = append(parts, Part{
			Pollutant: of, Index: float64(index), Value: float64(t.truncate(value)) / t.steps, Category: usCategory(index), Unit: t.unit, Averaging: averaging,
		})
	}
	particle := func(of air.Pollutant, t *usTable) {
		value, averaging := p.Mean[of-1], "24h"
		if hours := p.Hours.column(of); !p.Day {
			if now, ok := NowCast(hours[:]); ok {
				value, averaging = now, "nowcast"
			}
		}
		if index, ok := t.index(value); ok {
			add(of, t, index, value, averaging)
		}
	}
	particle(air.PM25, &usPM25)
	particle(air.PM10, &usPM10)
	no2, averaging := p.hourly(air.NO2)
	no2 = ppb(air.NO2, no2)
	if index, ok := usNO2.index(no2); ok {
		add(air.NO2, &usNO2, index, no2, averaging)
	}
	if index, value, averaging, ok := p.usSO2(); ok {
		add(air.SO2, &usSO2, index, value, averaging)
	}
	if co, averaging, ok := p.eightHours(air.CO); ok {
		co = ppb(air.CO, co) / 1000
		if index, ok := usCO.index(co); ok {
			add(air.CO, &usCO, index, co, averaging)
		}
	}
	if index, value, averaging, ok := p.usO3(); ok {
		add(air.O3, &usO3, index, value, averaging)
	}
	r := worst(parts)
	for _, part := range parts {
		if part.Pollutant == air.PM25 || part.Pollutant == air.PM10 || part.Pollutant == air.O3 {
			return r
		}
	}
	return Result{Parts: parts, Reason: usReason}
}

// usSO2 returns the index of SO2. If the 24-hour mean is at least 305 ppb, the index is that of the 24-hour mean.
// Otherwise the index is that of the hourly mean, but at most 200 (footnote of table 6 of EPA's document, usSource).
// usSO2 returns false if no index is known.
func (p *Place) usSO2() (index int, value float64, averaging string, ok bool) {
	hour, averaging := p.hourly(air.SO2)
	hour, day := ppb(air.SO2, hour), ppb(air.SO2, p.Mean[air.SO2-1])
	if index, ok := usSO2d.index(day); ok {
		return index, day, "24h", true
	}
	if index, ok := usSO2.index(hour); ok {
		return index, hour, averaging, true
	}
	return usEdges[3][1], hour, averaging, !math.IsNaN(hour) && hour > 0
}

// usO3 returns the larger of two indices of O3: of the 8-hour mean and of the hourly mean. The table of 8-hour means
// ends at 200 ppb, index 300 (footnote of table 6 of EPA's document, usSource). A higher mean has the index 300 too.
func (p *Place) usO3() (index int, value float64, averaging string, ok bool) {
	if mean, interval, known := p.eightHours(air.O3); known {
		value, averaging = ppb(air.O3, mean), interval
		if index, ok = usO3.index(value); !ok {
			index, ok = usEdges[4][1], value > 0
		}
	}
	hour, interval := p.hourly(air.O3)
	hour = ppb(air.O3, hour)
	if one, known := usO3h.index(hour); known && (!ok || one > index) {
		return one, hour, interval, true
	}
	return index, value, averaging, ok
}

// minHoursOf8 is how many of the 8 hours must be known for an 8-hour mean: 75 % (40 CFR 50, appendices D and U).
const minHoursOf8 = 6

// eightHours returns the 8-hour mean of CO or O3 that ends now. If fewer than minHoursOf8 of these 8 hours are known,
// it returns the largest 8-hour mean of the last 24 hours. For a day it returns the largest 8-hour mean of the day. It
// returns false if no 8-hour mean is known.
func (p *Place) eightHours(of air.Pollutant) (value float64, averaging string, ok bool) {
	if hours := p.Hours.column(of); !p.Day {
		sum, n := 0.0, 0
		for _, v := range hours[:8] {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		if n >= minHoursOf8 {
			return sum / float64(n), "8h", true
		}
	}
	value = p.Mean[of-1]
	return value, "max8h", !math.IsNaN(value) && !p.daily(of)
}
