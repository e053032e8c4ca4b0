package ingest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema"
	"vayu/schema/parameter"
)

// Reason names why a value, a line or a batch was refused. It is the label of
// the metric vayu_readings_total and of an import's summary.
type Reason string

// The reasons. None is a value that is fine.
const (
	None             Reason = ""
	MissingValue     Reason = "missing_value"     // "", "-", "NA", "None", -999, -9999: the source has no figure
	BadNumber        Reason = "bad_number"        // text that is no finite decimal number
	NegativeValue    Reason = "negative_value"    // below zero, and no known marker of a missing value
	OutOfRange       Reason = "out_of_range"      // outside what the parameter or the index can reach
	UnknownPollutant Reason = "unknown_pollutant" // a parameter that the catalogue does not hold
	UnknownUnit      Reason = "unknown_unit"      // a unit that cannot be converted
	BadTime          Reason = "bad_time"          // text that is no time in the source's format
	FutureTime       Reason = "future_time"       // more than five minutes ahead of the clock
	AncientTime      Reason = "ancient_time"      // before 2000: no automatic station in India is older
	NoStation        Reason = "no_station"        // a reading that does not say where it was taken
	BadPosition      Reason = "bad_position"      // coordinates outside India or 0,0: the position is dropped, the readings stay
	StationMoved     Reason = "station_moved"     // a position far from the known one: the known one stays, and the readings too
	Duplicate        Reason = "duplicate"         // the same station, pollutant and time again in one fetch
	NotListed        Reason = "not_listed"        // a record that the source counts and did not list
	BadLine          Reason = "bad_line"          // a line of a file that cannot be read
	OutsideIndia     Reason = "outside_india"     // a reading whose source says that it was taken in another country
	Unreadable       Reason = "unreadable"        // a part of a watched folder that cannot be looked at; the rest is read
	GateFailed       Reason = "gate_failed"       // a batch whose own cross-check fails
	BadReply         Reason = "bad_reply"         // a reply or file that cannot be read as what it should be: cut off, too large, a web page
)

// explanations says of each reason what it means, for people who read the
// output of an import.
var explanations = map[Reason]string{
	MissingValue:     "the cells are empty or hold a marker such as NA",
	BadNumber:        "the cells hold no decimal number",
	NegativeValue:    "the figures are below zero",
	OutOfRange:       "the figures are above what can be measured",
	UnknownPollutant: "the parameters are not known",
	UnknownUnit:      "the units cannot be converted, or are not known",
	BadTime:          "the times are in a form that is not known, or the averaging interval is not",
	FutureTime:       "the times lie ahead of this machine's clock",
	AncientTime:      "the times are before 2000",
	NoStation:        "the rows do not name a station",
	Duplicate:        "the same station, parameter and time came before",
	NotListed:        "the source counts records that it does not list",
	BadLine:          "the lines cannot be read as rows of the table",
	OutsideIndia:     "the readings were taken outside India",
}

// Explain says in words what the reason means; empty for a reason that refuses
// no value.
func (r Reason) Explain() string { return explanations[r] }

// Rejections counts refused values by reason.
type Rejections map[Reason]int

// Add counts n more values refused for a reason.
func (r *Rejections) Add(reason Reason, n int) {
	if *r == nil {
		*r = make(Rejections)
	}
	(*r)[reason] += n
}

// Merge adds all of other.
func (r *Rejections) Merge(other Rejections) {
	for reason, n := range other {
		r.Add(reason, n)
	}
}

// Main returns the reason of most rejections and how many it has; of equal ones
// the first in the alphabet. It is [None] when nothing was rejected.
func (r Rejections) Main() (main Reason, count int) {
	for _, reason := range slices.Sorted(maps.Keys(r)) {
		if n := r[reason]; n > count {
			main, count = reason, n
		}
	}
	return main, count
}

// ParseValue reads a source's text of a value. Null beats zero: every marker
// of a missing value that the networks use is a [MissingValue].
func ParseValue(text string) (float64, Reason) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "-", "--", "NA", "N/A", "na", "None", "none", "null", "NULL", "NaN", "nan":
		return 0, MissingValue
	}
	if len(text) > 40 || strings.ContainsAny(text, "_xXpPiI") {
		return 0, BadNumber // Go's hexadecimal, grouped and named numbers are no measurements
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, BadNumber
	}
	return v, CheckValue(v)
}

// CheckValue tells a figure from a marker of a missing value and from what
// cannot be a figure at all.
func CheckValue(v float64) Reason {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return BadNumber
	case v == -999 || v == -9999 || v == -99 || v == -1:
		return MissingValue
	case v < 0:
		return NegativeValue
	}
	return None
}

// ParseValueOf is [ParseValue] for a parameter: values of a signed one, such as
// a temperature, may be below zero. The missing markers -99, -999 and -9999
// stay; -1 is a value then.
func ParseValueOf(p parameter.Parameter, text string) (float64, Reason) {
	v, reason := ParseValue(text)
	return v, checkSigned(p, v, reason)
}

// checkSigned lifts the refusal of a negative value of a signed parameter.
func checkSigned(p parameter.Parameter, v float64, reason Reason) Reason {
	if p.Signed() && (reason == NegativeValue || v == -1) {
		return None
	}
	return reason
}

// earliest is the first instant from which readings are believed: India's
// first automatic stations began in the 2000s.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// leeway is how far ahead of the clock a reading may be: the clock skew that is
// tolerated. Stations and this machine follow NTP, so minutes are generous. An
// hour would let a station with a fast clock open every hour of its city alone.
const leeway = 5 * time.Minute

// checkTime applies the rules to the end of an averaging interval.
func checkTime(at, now time.Time) Reason {
	switch {
	case at.After(now.Add(leeway)):
		return FutureTime
	case at.Before(earliest):
		return AncientTime
	}
	return None
}

// Check applies the rules to a reading that is otherwise complete.
func Check(r *schema.Reading, now time.Time) Reason {
	switch {
	case r.Station == "":
		return NoStation
	case !r.Parameter.Valid(), r.Kind == schema.SubIndex && !r.Parameter.Indexed():
		return UnknownPollutant
	}
	if reason := checkTime(r.At, now); reason != None {
		return reason
	}
	if reason := checkSigned(r.Parameter, r.Value, CheckValue(r.Value)); reason != None {
		return reason
	}
	least, most := 0.0, 500.0 // the index's scale
	if r.Kind == schema.Concentration {
		least, most = r.Parameter.Range()
	}
	if r.Value < least || r.Value > most {
		return OutOfRange
	}
	return None
}

// BatchError is a fetch that was refused as a whole: its input cannot be
// trusted. The last good data stay.
type BatchError struct {
	Reason Reason
	Detail string
}

// Error implements error.
func (e *BatchError) Error() string {
	return fmt.Sprintf("refusing the batch: %s: %s", e.Reason, e.Detail)
}
