// Package naqi implements India's National Air Quality Index: breakpoints,
// sub-index, index, category and the inverse of a sub-index. It follows the Central
// Pollution Control Board (CPCB, National Air Quality Index, CUPS/82/2014-15).
//
// All arithmetic is in integer millionths of a concentration's unit, rounded
// half-up. In floating point, ties such as CO 1.13 mg/m³ would be rounded the wrong
// way. The service computes with [Functions], the same rule as ClickHouse SQL. The
// Go functions are the reference; a test compares both.
package naqi

import "vayu/schema/air"

// micro is the number of millionths in one unit of concentration.
const micro = 1_000_000

// indexEdge is the upper end of each category: Good 50, Satisfactory 100, Moderate
// 200, Poor 300, Very Poor 400, Severe 500.
var indexEdge = [...]int64{0, 50, 100, 200, 300, 400, 500}

// breakpoint is the end of each concentration band, in millionths of the
// pollutant's unit. The first six values are CPCB's. Bands are contiguous: after
// "0–30" the printed "31" is the next integer, not a gap. 2,169 of 2,210 published
// sub-indices agree with contiguous bands, 1,741 with gaps. The last value
// continues the slope of the fifth band to 500, the end of the scale.
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

// The minimum data for an index (CPCB, National Air Quality Index, chapter 4).
const (
	// MaxIndex is the end of the scale: no index and no sub-index exceeds it.
	MaxIndex = 500
	// MinHours is how many of the 24 hours a sub-index needs.
	MinHours = 16
	// MinHoursOf8 is how many hours an 8-hour mean of O3 or CO needs: two thirds of
	// 8, rounded up.
	MinHoursOf8 = 6
	// MinPollutants is how many sub-indices an AQI needs, one of them PM2.5 or
	// PM10.
	MinPollutants = 3
)
