package ingest

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"vayu/schema/parameter"
)

// Reason is the reason for rejecting a value, a line or a batch. It is a label of the metric vayu_readings_total, and
// the summary of an import counts rejections by reason.
type Reason string

// The reasons for rejecting a value. None marks a valid value.
const (
	None             Reason = ""
	MissingValue     Reason = "missing_value"     // an empty cell, or a marker such as "NA" or -999
	BadNumber        Reason = "bad_number"        // text that is not a finite decimal number
	NegativeValue    Reason = "negative_value"    // below zero, and not a missing marker
	OutOfRange       Reason = "out_of_range"      // outside the range of the parameter or the index
	UnknownPollutant Reason = "unknown_pollutant" // a parameter that is not in the catalogue
	UnknownUnit      Reason = "unknown_unit"      // a unit that cannot be converted
	BadTime          Reason = "bad_time"          // a time or an averaging interval in an unknown format
	FutureTime       Reason = "future_time"       // more than five minutes ahead of the clock
	AncientTime      Reason = "ancient_time"      // before 2000; for a pushed reading, more than 31 days ago
	NoStation        Reason = "no_station"        // a reading without a known station
	BadPosition      Reason = "bad_position"      // a position that is invalid or outside India; only push drops the reading too
	StationMoved     Reason = "station_moved"     // a position far from the station's known position; the station keeps the known one
	Duplicate        Reason = "duplicate"         // a repeated station, pollutant and time in one fetch
	NotListed        Reason = "not_listed"        // a record that the source includes in its count but does not send
	BadLine          Reason = "bad_line"          // a line of a file that cannot be read
	OutsideIndia     Reason = "outside_india"     // a reading from another country
	Unreadable       Reason = "unreadable"        // an unreadable part of a folder or a network; the rest is read
	Excluded         Reason = "excluded"          // a value that the source, or the source description (YAML), marks as unusable
	GateFailed       Reason = "gate_failed"       // a feed whose values contradict each other
	UnknownAccount   Reason = "unknown_account"   // a message of an account that does not exist
	BadReply         Reason = "bad_reply"         // an unreadable reply or file: cut off, too large, a web page
)

// explanations describe the reasons in the output of an import.
var explanations = map[Reason]string{
	MissingValue:     "the cells are empty or hold a marker such as NA",
	BadNumber:        "the cells hold no decimal number",
	NegativeValue:    "the values are below zero",
	OutOfRange:       "the values are outside the valid range",
	UnknownPollutant: "the parameters are unknown",
	UnknownUnit:      "the units are unknown or cannot be converted",
	BadTime:          "the format of the times or the averaging interval is unknown",
	FutureTime:       "the times are in the future of this machine's clock",
	AncientTime:      "the times are before 2000",
	NoStation:        "the rows do not name a station",
	Duplicate:        "the same station, parameter and time are repeated",
	NotListed:        "the source counts records that it does not list",
	BadLine:          "the lines cannot be read as rows of the table",
	OutsideIndia:     "the readings were taken outside India",
	Excluded:         "the source or its description marks the values as unusable",
	Unreadable:       "a part of the input cannot be read",
	UnknownAccount:   "the messages name no account that exists",
}

// Explain returns a description of the reason for people, or "" if the map `explanations` has none.
func (r Reason) Explain() string { return explanations[r] }

// ConcernsPosition reports whether the reason rejects a station's position, not a value.
func (r Reason) ConcernsPosition() bool { return r == BadPosition || r == StationMoved }

// Rejections counts rejected values by reason.
type Rejections map[Reason]int

// Add counts n more rejected values.
func (r *Rejections) Add(reason Reason, n int) {
	if *r == nil {
		*r = make(Rejections)
	}
	(*r)[reason] += n
}

// Merge adds all counts of `other` to r.
func (r *Rejections) Merge(other Rejections) {
	for reason, n := range other {
		r.Add(reason, n)
	}
}

// MostFrequent returns the most frequent reason and its count. Of several equally frequent reasons it returns the
// alphabetically first. It returns [None] if nothing was rejected.
func (r Rejections) MostFrequent() (main Reason, count int) {
	for _, reason := range slices.Sorted(maps.Keys(r)) {
		if n := r[reason]; n > count {
			main, count = reason, n
		}
	}
	return main, count
}

// ParseValue parses a value. It returns [MissingValue] for every marker of a missing value that the networks use, even
// for a number such as -999.
func ParseValue(text string) (float64, Reason) {
	text = strings.TrimSpace(text)
	switch text {
	case "", "-", "--", "NA", "N/A", "na", "None", "none", "null", "NULL", "NaN", "nan":
		return 0, MissingValue
	}
	if len(text) > 40 || strings.ContainsAny(text, "_xXpPiI") {
		return 0, BadNumber // ParseFloat would accept some of these texts: 0x1p4, inf
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, BadNumber
	}
	return v, CheckValue(v)
}

// CheckValue returns [None] for a valid value. It rejects a marker for a missing value, a
// negative value, and a value that is not finite.
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

// ParseValueOf parses a value as [ParseValue] does, but with the rules of a parameter. Signed parameters, such as
// temperature, may be below zero. For them -1 is a valid value, while -99, -999 and -9999 are still markers of a
// missing value.
func ParseValueOf(p parameter.Parameter, text string) (float64, Reason) {
	v, reason := ParseValue(text)
	return v, checkSigned(p, v, reason)
}

// checkSigned accepts negative values of a signed parameter: it returns [None] if v is -1 or reason is [NegativeValue].
// Otherwise it returns reason.
func checkSigned(p parameter.Parameter, v float64, reason Reason) Reason {
	if p.Signed() && (reason == NegativeValue || v == -1) {
		return None
	}
	return reason
}

// earliest is the earliest time of a valid reading. India's first automatic stations began in the 2000s.
var earliest = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// maxClockSkew is how far in the future the time of a reading may be. Stations and this machine use NTP, so five
// minutes are generous. With a limit of an hour, one station with a fast clock could make the figures of its
// city move on to the next hour too early.
const maxClockSkew = 5 * time.Minute

// checkTime returns the reason for rejecting the end of an averaging interval, or [None].
func checkTime(at, now time.Time) Reason {
	switch {
	case at.After(now.Add(maxClockSkew)):
		return FutureTime
	case at.Before(earliest):
		return AncientTime
	}
	return None
}

// BatchError is the error of a fetch whose whole input is rejected, because it cannot be trusted. Readings that are
// already stored remain.
type BatchError struct {
	Reason Reason
	Detail string
}

// Error implements error.
func (e *BatchError) Error() string {
	return fmt.Sprintf("refusing the batch: %s: %s", e.Reason, e.Detail)
}

// BadReplyf returns a [*BatchError] with the reason [BadReply], for a reply or file that cannot be read. It replaces
// invalid UTF-8 in the detail.
func BadReplyf(format string, args ...any) error {
	return &BatchError{Reason: BadReply, Detail: strings.ToValidUTF8(fmt.Sprintf(format, args...), "?")}
}
