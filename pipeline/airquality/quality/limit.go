package quality

import "fmt"

// limit holds the thresholds of one parameter, in its unit (µg/m³; CO mg/m³,
// NOx ppb).
type limit struct {
	parameter string
	// least and full bound what instruments measure: values outside are suspect.
	least, full float64
	// most is above what can be true: values above it, and below floor, fail.
	floor, most float64
	// spike is by how much a spike is outside its neighbours, beside more than
	// their range and more than half of the larger.
	spike float64
	// jump is the step between two readings that is too large, beside a factor of two.
	jump float64
}

// limits are those of the parameters that the tests know.
//
// full is the end of the range in which instruments are certified: EN 16450
// (PM, 0-1,000 µg/m³), EN 14211 (NO 0-1,200, NO2 0-500 µg/m³), EN 14212 (SO2
// 0-1,000 µg/m³), EN 14625 (O3 0-500 µg/m³), EN 14626 (CO 0-100 mg/m³). For
// PM it is 985, the largest figure of a BAM-1020 in its usual range, which is
// the most common instrument in CPCB's network. For CO it is 50: the largest
// hourly means of Indian stations are below 30.
//
// most lies above anything that was reported and confirmed. PM2.5: hourly means
// of 1,800 on nights of Diwali in Delhi. PM10: 8,100 in the dust storm of
// Beijing, March 2021; EN 16450 knows instruments up to 10,000. O3: 1,160
// (580 ppb) in Los Angeles, 1955. NO2, NO, SO2: 1,000 ppb, twice the range of
// ambient analysers. CO: 100 ppm, the end of the range of ambient analysers.
//
// floor is the noise of an instrument at zero: a BAM-1020 reports down to -15.
// Sources that remove negative values never reach it.
//
// spike and jump are about the 99th and beyond the 99.99th percentile of steps
// between two 15-minute readings of 15 CAAQM stations in 2020; CO and NH3, which
// those files lack, by the ratio of their breakpoints to those of SO2.
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
	// gapMinutes is how much longer than its averaging interval the distance of
	// two readings is when a whole hour is missing.
	gapMinutes = 60
	// spikeMinutes is the longest spike: one hourly value, also where a source
	// repeats it every 15 minutes.
	spikeMinutes = 60
	// nextMinutes is how near the neighbours of a value's neighbours must be to
	// tell how much values vary there: two hourly readings.
	nextMinutes = 120
	// flatMinutes is the shortest flat line. Of 3 million readings of 15 CAAQM
	// stations in 2020 0.3 % lie in runs of the same value of four hours.
	flatMinutes = 240
	// minVariation is the coefficient of variation below which 24 hours are near
	// constant: Vohra et al. 2024, 10.1016/j.aeaoa.2024.100308.
	minVariation = 0.1
	// minVariationHours is how many of the 24 hours must have readings: 75 %, the
	// data capture that CPCB and the EU ask for.
	minVariationHours = 18
	// repeatDays and repeatMost: a calibration repeats daily; weather does not
	// make the same hour jump on four of seven days.
	repeatDays = 7
	repeatMost = 4
	// aheadMinutes is the clock skew that a reading may have.
	aheadMinutes = 5
	// firstDay is when monitoring in India began: the National Air Quality
	// Monitoring Programme started in 1984.
	firstDay = "1984-01-01 00:00:00"
	// nearMetres bounds the neighbours of a station.
	nearMetres = 10_000
	// sameMetres: two reference stations closer than this are one station in two
	// networks, and no independent measurement.
	sameMetres = 50
	// minNeighbours is how many neighbours make a comparison: with two, one bad
	// neighbour decides.
	minNeighbours = 3
	// nearFactor is beyond which ratio to the nearest of its neighbours' means a
	// station is suspect. PM of stations in one city rarely differs by more than
	// a factor of two (CPCB, Delhi); four leaves room for a fire.
	nearFactor = 4
	// noxLeast is the NOx, ppb, below which rounding and noise hide the sum.
	noxLeast = 5
	// noxForm is by which share the sum may be off to count for a form. Half of
	// the distance between 0 °C and 25 °C (9 %) separates the two forms.
	noxForm = 0.05
	// noxOff is by which share the sum must be off to be suspect.
	noxOff = 0.1
	// noxDays and noxTimes: the form of a station is that of the 30 days before,
	// out of at least 96 times (a day of 15 minutes, four days of hours), of which
	// noxShare agree.
	noxDays  = 30
	noxTimes = 96
	noxShare = 0.7
)

// Micrograms per cubic metre that are one ppb of NO and NO2: molar mass over
// molar volume, 24.45 l/mol at 25 °C and 22.41 l/mol at 0 °C.
const (
	noPerPPB      = 30.01 / 24.45
	no2PerPPB     = 46.01 / 24.45
	noPerPPBCold  = 30.01 / 22.41
	no2PerPPBCold = 46.01 / 22.41
)

// nearFloor is, by parameter, how far a station must be from its neighbours'
// means beside nearFactor. Only what spreads over a city is compared: NO2, SO2
// and CO differ from street to street.
var nearFloor = map[string]float64{"pm25": 100, "pm10": 200}

// number writes a threshold as SQL.
func number(v float64) string { return fmt.Sprintf("toFloat64(%v)", v) }
