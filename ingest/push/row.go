package push

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/ingest"
	"vayu/schema/air"
	"vayu/schema/geo"
	"vayu/schema/parameter"
)

// row is one reading as the client sent it, with the names of the JSON fields. A nil or empty field is absent.
type row struct {
	Station   string   `json:"station"`
	Parameter string   `json:"parameter"`
	Value     *float64 `json:"value"`
	Unit      string   `json:"unit"`
	At        string   `json:"at"`
	Averaging *int     `json:"averaging_minutes"`
	Latitude  *float64 `json:"latitude"`
	Longitude *float64 `json:"longitude"`
	Name      string   `json:"name"`

	// instant is the time of the reading if the format of the body has a type for times, such as Arrow. The field At is
	// then unused.
	instant time.Time
	// fault is set if the row could not be decoded.
	fault *fault
	// raw is the text of the row, or nil if it is unknown. It shares memory with the body.
	raw []byte
	// record is the index of the [Record] (message of a stream) to which the row belongs. index is the position of the
	// row in that Record, or -1 if the Record cannot be decoded. A request over HTTP sets neither.
	record, index int
}

// fault is the reason for rejecting a reading. `field` is the invalid field, or "" if the whole reading is invalid.
type fault struct {
	reason         ingest.Reason
	field, message string
}

// stationName matches the names that accounts can give to stations. The characters are safe in a URL.
var stationName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

const stationNameRule = "The name of a station must have 1 to 64 letters, digits, dots, hyphens and underscores, and must start with a letter or digit."

// maxText is the length of the longest accepted name or licence, in characters.
const maxText = 100

// checkText reports whether a text is short enough and has no control characters, so that it can be displayed.
func checkText(text string) bool {
	return utf8.RuneCountInString(text) <= maxText && utf8.ValidString(text) &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
}

// checkPosition returns a sentence that says why a position is invalid, or "" if the position is valid.
func checkPosition(latitude, longitude float64) string {
	switch {
	case math.IsNaN(latitude) || latitude < -90 || latitude > 90:
		return "The latitude must be between -90 and 90 degrees."
	case math.IsNaN(longitude) || longitude < -180 || longitude > 180:
		return "The longitude must be between -180 and 180 degrees."
	case !geo.InIndia(latitude, longitude):
		return "The position is outside India."
	}
	return ""
}

// maxAge is the largest age of a pushed reading. The roll-up and the snapshot read everything since the oldest new
// reading, so a very old reading would delay the results of all accounts.
const maxAge = 31 * 24 * time.Hour

// isMarker reports whether v is a number that sensors send for a missing value, whatever the unit is.
func isMarker(v float64) bool { return v == -99 || v == -999 || v == -9999 }

// reading converts a row to a reading in the unit of its parameter. The reading's Station is the name that the account
// gave the station, and not an id.
func (r *row) reading(now time.Time) (air.Reading, *fault) {
	if r.fault != nil {
		return air.Reading{}, r.fault
	}
	p, known := parameter.Parse(r.Parameter)
	switch {
	case !stationName.MatchString(r.Station):
		return air.Reading{}, &fault{ingest.NoStation, "station", stationNameRule}
	case !known:
		return air.Reading{}, &fault{ingest.UnknownPollutant, "parameter", fmt.Sprintf("The parameter %.40q is unknown.", r.Parameter)}
	case r.Value == nil, isMarker(*r.Value):
		return air.Reading{}, &fault{ingest.MissingValue, "value", "The value is missing, or is a marker for a missing value."}
	}
	averaging := int(air.Hourly)
	if r.Averaging != nil {
		averaging = *r.Averaging
	}
	if averaging < 1 || averaging > int(air.Daily) {
		return air.Reading{}, &fault{ingest.BadTime, "averaging_minutes", "The averaging interval must have 1 to 1440 minutes."}
	}
	at := r.instant
	if at.IsZero() {
		var err error
		if at, err = time.Parse(time.RFC3339, r.At); err != nil {
			return air.Reading{}, &fault{ingest.BadTime, "at", "The time must be in RFC 3339, such as 2026-11-20T08:30:00Z."}
		}
	}
	at = at.UTC().Truncate(time.Second)
	if at.Before(now.Add(-maxAge)) {
		return air.Reading{}, &fault{ingest.AncientTime, "at", "The time is more than 31 days ago."}
	}
	value, convertible := p.Convert(*r.Value, r.Unit)
	if !convertible {
		return air.Reading{}, &fault{ingest.UnknownUnit, "unit", fmt.Sprintf("The unit %.20q cannot be converted to %s.", r.Unit, p.Unit())}
	}
	out := air.Reading{Station: r.Station, Parameter: p, At: at, Value: value, Kind: air.Concentration, Averaging: uint16(averaging)}
	if reason := ingest.Check(&out, now); reason != ingest.None {
		return air.Reading{}, faultOf(reason, &out)
	}
	return out, nil
}

// faultOf converts the reason for rejecting the reading r to a fault.
func faultOf(reason ingest.Reason, r *air.Reading) *fault {
	f := &fault{reason: reason, field: "value"}
	least, most := r.Parameter.Range()
	switch reason {
	case ingest.FutureTime:
		f.field, f.message = "at", "The time is in the future."
	case ingest.MissingValue:
		f.message = "The value is a marker for a missing value. Send no reading instead."
	case ingest.NegativeValue:
		f.message = "The value is below zero."
	case ingest.OutOfRange:
		f.message = fmt.Sprintf("The value is outside %s to %s %s.", number(least), number(most), r.Parameter.Unit())
	default:
		f.message = "The value is not a finite number."
	}
	return f
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// registers reports as `located` whether the row can register an unknown station. Such a row has a valid position and,
// if it has a name, a valid name. `wrong` is the fault of an invalid position or name. Without position, it is nil.
func (r *row) registers() (located bool, wrong *fault) {
	if r.Latitude == nil && r.Longitude == nil {
		return false, nil
	}
	if r.Latitude == nil || r.Longitude == nil {
		return false, &fault{ingest.BadPosition, "latitude", "A position requires latitude and longitude."}
	}
	if message := checkPosition(*r.Latitude, *r.Longitude); message != "" {
		return false, &fault{ingest.BadPosition, "latitude", message}
	}
	if !checkText(r.Name) {
		return false, &fault{ingest.NoStation, "name", "A name must have at most 100 characters and no control characters."}
	}
	return true, nil
}
