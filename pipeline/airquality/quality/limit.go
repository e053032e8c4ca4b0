package quality

import "fmt"

// limit holds the thresholds of one parameter, in the unit of the parameter (µg/m³;
// mg/m³ for CO, ppb for NOx).
type limit struct {
	parameter string
	// `least` and `full` are the ends of the instruments' range. A value below `least` is suspect, and so is `full` or
	// a value above it.
	least, full float64
	// `floor` and `most` are the ends of the possible range. A value outside this range fails.
	floor, most float64
	// `spike` is the minimum difference between a spike and each of the two values beside it. The difference must also
	// exceed the range of the values around the spike (up to two on each side), and half of the larger value beside it.
	spike float64
	// `jump` is the minimum difference between two successive values of which the second is suspect. In addition, one
	// value must be more than twice the other.
	jump float64
}

// limits are the thresholds of the parameters that are tested.
//
// `full` is the end of the range in which instruments are certified. EN 16450: PM 0-1,000 µg/m³. EN 14211: NO 0-1,200
// and NO2 0-500 µg/m³. EN 14212: SO2 0-1,000 µg/m³. EN 14625: O3 0-500 µg/m³. EN 14626: CO 0-100 mg/m³. There are two
// exceptions. For PM, `full` is 985, the largest value of a BAM-1020 in its usual range. The BAM-1020 is the most
// common instrument in CPCB's network. For CO, `full` is 50, because the largest hourly means of Indian stations are
// below 30.
//
// `most` is above every confirmed report. PM2.5: hourly means of 1,800 on nights of Diwali in Delhi. PM10: 8,100 in the
// dust storm of Beijing in March 2021; EN 16450 covers instruments up to 10,000. O3: 1,160 (580 ppb) in Los Angeles in
// 1955. NO2, NO and SO2: 1,000 ppb, twice the range of ambient analysers. CO: 100 ppm, the end of the range of ambient
// analysers.
//
// `floor` is the noise of an instrument when the true value is zero. For example, a BAM-1020 reports values down to
// -15. Sources that remove negative values never reach `floor`.
//
// `spike` is about the 99th percentile of the steps between successive 15-minute readings of 15 CAAQM stations in 2020.
// `jump` is above the 99.99th percentile of these steps. The files of these stations have no CO and NH3. Therefore the
// values for CO and NH3 are scaled from those of SO2, by the ratio of the breakpoints.
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

// These thresholds are the same for all parameters.
const (
	// Between two readings there is a gap if the time between their ends exceeds the averaging interval by gapMinutes
	// or more. Then at least one whole hour is missing.
	gapMinutes = 60
	// spikeMinutes is the maximum length of a spike: one hourly value, even if a source repeats an hourly value every
	// 15 minutes.
	spikeMinutes = 60
	// nextMinutes is the maximum time between a reading and the second value before or after it, for the test `spike`.
	// It allows for two hourly readings. The second values show how much values vary at the station.
	nextMinutes = 120
	// flatMinutes is the minimum length of a flat line, in which all values are equal. Of 3 million readings of 15
	// CAAQM stations in 2020, 0.3 % belong to a value that is repeated for four hours.
	flatMinutes = 240
	// minVariation is the coefficient of variation (standard deviation divided by mean) below which the values of 24
	// hours are nearly constant (Vohra et al. 2024, 10.1016/j.aeaoa.2024.100308).
	minVariation = 0.1
	// minVariationHours is how many of the 24 hours must have readings. It is 75 %,
	// the data capture that CPCB and the EU require.
	minVariationHours = 18
	// repeatDays and minRepeats define repetition: spikes or jumps at the same hour
	// on at least four of seven days. A calibration causes this, but weather does
	// not.
	repeatDays = 7
	minRepeats = 4
	// aheadMinutes is the maximum time from the storage of a reading to the end of its averaging interval. The interval
	// normally ends before the storage. The tolerance is for clock skew.
	aheadMinutes = 5
	// firstDay is the earliest possible time of a reading. Monitoring in India
	// began with the National Air Quality Monitoring Programme in 1984.
	firstDay = "1984-01-01 00:00:00"
	// nearMetres is the maximum distance of a neighbour from a station.
	nearMetres = 10_000
	// sameMetres is the distance below which two reference stations are one physical station in two networks. They are
	// not compared, because their measurements are not independent.
	sameMetres = 50
	// minNeighbours is the minimum number of neighbours for a comparison. If there
	// were two, one bad neighbour would determine the result.
	minNeighbours = 3
	// nearFactor is the minimum factor by which the hourly mean of a suspect station is above the highest mean of its
	// neighbours, or below the lowest one. PM at stations of one city rarely differs by more than a factor of two
	// (CPCB, Delhi). A factor of four allows for a fire nearby.
	nearFactor = 4
	// noxLeast is the NOx concentration, in ppb, up to which the test nox_sum is not possible. Rounding and noise then
	// hide whether NO and NO2 add up to NOx.
	noxLeast = 5
	// noxForm is the maximum relative error of a sum NO + NO2 that fits a form. A form is an assumption about the units
	// of NO, NO2 and NOx. The sums of the forms for 0 °C and for 25 °C differ by 9 %. noxForm is about half of that, so
	// that it separates the two forms.
	noxForm = 0.05
	// noxOff is the minimum relative error of a sum NO + NO2 that is suspect.
	noxOff = 0.1
	// noxDays, noxTimes and noxShare are the conditions for the form (see noxForm) of a station on a day. In the 30
	// days before, the station must have NO, NO2 and NOx at 96 points in time: one day of 15-minute readings, or four
	// days of hourly readings. At 70 % (noxShare) of these points or more, NO + NO2 must fit one form.
	noxDays  = 30
	noxTimes = 96
	noxShare = 0.7
)

// These factors convert ppb of NO or NO2 to µg/m³. They are the molar mass divided by the molar
// volume. The molar volume is 24.45 l/mol at 25 °C and 22.41 l/mol at 0 °C.
const (
	noPerPPB      = 30.01 / 24.45
	no2PerPPB     = 46.01 / 24.45
	noPerPPBCold  = 30.01 / 22.41
	no2PerPPBCold = 46.01 / 22.41
)

// nearFloor is, by parameter, the minimum difference between the hourly mean of a suspect station and the median of its
// neighbours' means. The condition of nearFactor must be met too. Only parameters that spread over a whole city are
// compared. NO2, SO2 and CO are not, because they differ from street to street.
var nearFloor = map[string]float64{"pm25": 100, "pm10": 200}

// number returns a threshold as an SQL expression of type Float64.
func number(v float64) string { return fmt.Sprintf("toFloat64(%v)", v) }
