// Package naqi implements India's National Air Quality Index: breakpoints, sub-indices, the index, its categories, and
// the inverse of a sub-index. It follows the Central Pollution Control Board (CPCB, National Air Quality Index,
// CUPS/82/2014-15).
//
// All arithmetic uses integer millionths of a concentration's unit, and rounds a half up. Floating point would round
// values such as CO 1.13 mg/m³ the wrong way. The service computes indices with [Functions], which implement the same
// rules in ClickHouse SQL. The Go functions are the reference, and a test compares both.
package naqi

import "vayu/schema/air"

// micro is the number of millionths in one unit of concentration.
const micro = 1_000_000

// indexEdge has 0, and then the upper limit of each category's index: Good 50, Satisfactory 100, Moderate 200,
// Poor 300, Very Poor 400, Severe 500.
var indexEdge = [...]int64{0, 50, 100, 200, 300, 400, 500}

// breakpoint has the upper end of each concentration band of a pollutant, in millionths of the pollutant's unit. The
// first six values are CPCB's. The bands have no gaps: CPCB prints "0–30" and "31–60", but 30.5 belongs to the second
// band. Of 2,210 published sub-indices, 2,169 agree with bands without gaps, but only 1,741 with gaps. The last value
// continues the slope of the fifth band up to index 500, the end of the scale.
var breakpoint = [...][7]int64{
	air.PM25: {0, 30 * micro, 60 * micro, 90 * micro, 120 * micro, 250 * micro, 380 * micro},
	air.PM10: {0, 50 * micro, 100 * micro, 250 * micro, 350 * micro, 430 * micro, 510 * micro},
	air.NO2:  {0, 40 * micro, 80 * micro, 180 * micro, 280 * micro, 400 * micro, 520 * micro},
	air.SO2:  {0, 40 * micro, 80 * micro, 380 * micro, 800 * micro, 1600 * micro, 2400 * micro},
	air.CO:   {0, 1 * micro, 2 * micro, 10 * micro, 17 * micro, 34 * micro, 51 * micro},
	air.O3:   {0, 50 * micro, 100 * micro, 168 * micro, 208 * micro, 748 * micro, 1288 * micro},
	air.NH3:  {0, 200 * micro, 400 * micro, 800 * micro, 1200 * micro, 1800 * micro, 2400 * micro},
	air.Pb:   {0, micro / 2, 1 * micro, 2 * micro, 3 * micro, 3*micro + micro/2, 4 * micro},
}

// Limits of the index, and the minimum data for it (CPCB, National Air Quality Index, chapter 4).
const (
	// MaxIndex is the end of the scale. No index or sub-index exceeds it.
	MaxIndex = 500
	// MinHours is how many of the 24 hours must have data for a sub-index.
	MinHours = 16
	// MinHoursOf8 is how many of the 8 hours must have data for an 8-hour mean of O3 or CO. It is two thirds of 8,
	// rounded up.
	MinHoursOf8 = 6
	// MinPollutants is the number of sub-indices that an AQI needs. One of them must be of PM2.5 or PM10.
	MinPollutants = 3
)
