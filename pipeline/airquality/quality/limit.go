package quality

import "fmt"

// limit holds the thresholds of one parameter, in its unit (µg/m³; CO mg/m³, NOx
// ppb).
type limit struct {
	parameter string
	// Instruments measure from least to full. A value outside is suspect.
	least, full float64
	// Values above most or below floor are impossible and fail.
	floor, most float64
	// spike is the minimum distance of a spike above or below both its neighbours. The
	// distance must also exceed the neighbours' own difference, and half of the larger
	// one.
	spike float64
	// jump is the minimum difference of two successive readings that is suspect.
	// One must also be more than twice the other.
	jump float64
}

// limits are the thresholds of the parameters that are tested.
//
// full is the end of the range in which instruments are certified: EN 16450 (PM,
// 0-1,000 µg/m³), EN 14211 (NO 0-1,200, NO2 0-500 µg/m³), EN 14212 (SO2 0-1,000
// µg/m³). O3 and CO follow EN 14625 (0-500 µg/m³) and EN 14626 (0-100 mg/m³). For
// PM it is 985, the largest value of a BAM-1020 in its usual range, the most common
// instrument in CPCB's network. For CO it is 50: the largest hourly means of Indian
// stations are below 30.
//
// most lies above every confirmed report. PM2.5: hourly means of 1,800 on nights of
// Diwali in Delhi. PM10: 8,100 in the dust storm of Beijing, March 2021; EN 16450
// covers instruments up to 10,000. O3: 1,160 (580 ppb) in Los Angeles, 1955. NO2,
// NO, SO2: 1,000 ppb, twice the range of ambient analysers. CO: 100 ppm, the end of
// the range of ambient analysers.
//
// floor is the noise of an instrument at zero: a BAM-1020 reports down to -15.
// Sources that remove negative values never reach it.
//
// spike is about the 99th percentile of steps between two 15-minute readings of 15
// CAAQM stations in 2020. jump is beyond the 99.99th. Those files lack CO and NH3,
// whose limits are scaled from SO2 by the ratio of the breakpoints.
var limits = [...]limit{
	{"pm25", 0, 985, -15, 3000, 30, 300},
	{"pm1", 0, 985, -15, 3000, 30, 300},
	{"pm10", 0, 985, -15, 10000, 60, 500},
	{"no2", 0, 500, -10, 1880, 20, 150},
	{"no", 0, 1200, -10, 1230, 30, 250},
	{"nox", 0, 1000, -10, 2000, 30, 200},
	{"so2", 0, 1000, -10, 2620, 15, 120},
	{"o3", 0, 500, -10, 1200, 25, 120},
	{"co", 0, 50, -1, 115, 1.5, 10},
	{"nh3", 0, 1000, -10, 3000, 40, 300},
}

// Thresholds that all parameters share.
const (
	// gapMinutes is the length of a gap: a whole hour is missing between two
	// readings, in addition to the averaging interval.
	gapMinutes = 60
	// spikeMinutes is the longest spike: one hourly value, even if a source repeats
	// it every 15 minutes.
	spikeMinutes = 60
	// nextMinutes is the maximum distance of a reading's second neighbours: two
	// hourly readings. Their values show how much readings vary.
	nextMinutes = 120
	// flatMinutes is the shortest flat line. Of 3 million readings of 15 CAAQM
	// stations in 2020, 0.3 % lie in runs of one value of four hours.
	flatMinutes = 240
	// minVariation is the coefficient of variation below which 24 hours are near
	// constant: Vohra et al. 2024, 10.1016/j.aeaoa.2024.100308.
	minVariation = 0.1
	// minVariationHours is how many of the 24 hours must have readings: 75 %, the
	// data capture that CPCB and the EU require.
	minVariationHours = 18
	// repeatDays and repeatMost define repetition: jumps in the same hour on four
	// of seven days. A calibration causes that, weather does not.
	repeatDays = 7
	repeatMost = 4
	// aheadMinutes is the tolerated clock skew of a reading.
	aheadMinutes = 5
	// firstDay is when monitoring in India began: the National Air Quality
	// Monitoring Programme started in 1984.
	firstDay = "1984-01-01 00:00:00"
	// nearMetres is the maximum distance of a station's neighbours.
	nearMetres = 10_000
	// sameMetres is the distance below which two reference stations are one station
	// in two networks, and not independent measurements.
	sameMetres = 50
	// minNeighbours is the minimum number of neighbours for a comparison. Of only
	// two, one bad neighbour would decide the result.
	minNeighbours = 3
	// nearFactor is the factor by which a suspect station at least differs from the
	// closest of its neighbours' means. PM of stations in one city rarely differs
	// by more than a factor of two (CPCB, Delhi). Four leaves room for a fire.
	nearFactor = 4
	// noxLeast is the NOx, in ppb, below which rounding and noise hide whether NO
	// and NO2 add up to NOx.
	noxLeast = 5
	// noxForm is the maximum relative error of a sum that fits a form (units of NO,
	// NO2 and NOx). Half of the 9 % between 0 °C and 25 °C separates the two forms.
	noxForm = 0.05
	// noxOff is the minimum relative error of a suspect sum.
	noxOff = 0.1
	// noxDays, noxTimes and noxShare determine the form of a station, from the 30
	// days before. It needs 96 points in time: a day at 15 minutes, or four days of
	// hours. The share noxShare of them must fit one form.
	noxDays  = 30
	noxTimes = 96
	noxShare = 0.7
)

// Micrograms per cubic metre of one ppb of NO and NO2: molar mass over molar
// volume. The volume is 24.45 l/mol at 25 °C and 22.41 l/mol at 0 °C.
const (
	noPerPPB      = 30.01 / 24.45
	no2PerPPB     = 46.01 / 24.45
	noPerPPBCold  = 30.01 / 22.41
	no2PerPPBCold = 46.01 / 22.41
)

// nearFloor is, by parameter, how far a suspect station at least lies from its
// neighbours' means, in addition to nearFactor. Only parameters that spread over a
// city are compared: NO2, SO2 and CO differ from street to street.
var nearFloor = map[string]float64{"pm25": 100, "pm10": 200}

// number returns a threshold as SQL.
func number(v float64) string { return fmt.Sprintf("toFloat64(%v)", v) }
