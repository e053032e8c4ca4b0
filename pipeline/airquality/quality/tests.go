package quality

// Test describes a quality test: a rule that plausible readings meet.
type Test struct {
	// Name is the name of the test in the column reading_quality.test, in the settings and in the API.
	Name string
	// Version must be increased with each change of the rule or its thresholds.
	Version uint16
	// Flag is the worst result that the test can have.
	Flag Flag
	// About describes in one sentence what the test finds.
	About string
}

// These are the names of the tests.
const (
	GrossRange     = "gross_range"
	ImpossibleDate = "impossible_date"
	SourceFlag     = "source_flag"
	PM25AbovePM10  = "pm25_above_pm10"
	Spike          = "spike"
	RateOfChange   = "rate_of_change"
	FlatLine       = "flat_line"
	TimeGap        = "time_gap"
	NearConstant   = "near_constant"
	SameHour       = "same_hour"
	Neighbours     = "neighbours"
	NOxSum         = "nox_sum"
)

// Tests lists every test. Only impossible values and times get the flag Fail. Readings with the flag Suspect count in
// the index by default, because CPCB computes its index without such tests.
var Tests = [...]Test{
	{GrossRange, 1, Fail, "The value lies outside what the instrument measures (suspect) or what can be true (fail)."},
	{ImpossibleDate, 1, Fail, "The reading ends after it was received, or before monitoring in India began."},
	{SourceFlag, 1, Suspect, "The source marked the value as stuck or clipped."},
	{PM25AbovePM10, 1, Suspect, "PM2.5 exceeds PM10, of which it is a part."},
	{Spike, 1, Suspect, "A value of at most one hour differs from both its neighbours, which are alike."},
	{RateOfChange, 1, Suspect, "The value differs too much from the one before."},
	{FlatLine, 1, Suspect, "The same value was repeated for four hours or longer."},
	{TimeGap, 1, Missing, "There is no reading for an hour or longer."},
	{NearConstant, 1, Suspect, "The 24 hours up to the reading's hour vary by less than a tenth of their mean."},
	{SameHour, 1, Suspect, "Spikes or jumps return at the same hour on at least four of seven days."},
	{Neighbours, 1, Suspect, "The hour's mean differs from those of all reference stations within 10 km."},
	{NOxSum, 1, Suspect, "NO, NO2 and NOx contradict the units in which the station usually reports them."},
}

// SeriesTests returns the names of the tests that [Tester.Series] runs.
func SeriesTests() []string {
	return []string{Spike, RateOfChange, FlatLine, TimeGap, NearConstant, SameHour, Neighbours, NOxSum}
}

// TestNamed returns the test with a name. It returns false if there is no such
// test.
func TestNamed(name string) (Test, bool) {
	for _, t := range Tests {
		if t.Name == name {
			return t, true
		}
	}
	return Test{}, false
}
