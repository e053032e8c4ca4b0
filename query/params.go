package query

import (
	"math"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/internal/httpapi"
	"vayu/query/places"
	"vayu/query/rollup"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/spelling"
)

// Limits of the parameters of GET /v1/aqi.
const (
	maxLocations = 100
	maxDays      = 366
	maxHourDays  = 31
	maxName      = 200 // bytes of one place's name; the longest in the gazetteer has 96
)

// aqiQuery has the parameters of GET /v1/aqi. They are valid, but the city or pin code may not exist.
type aqiQuery struct {
	given    uint16 // bit set of the parameters that are in the query
	city     string
	cities   string
	pin      int32
	point    places.Point
	day      schema.Day // value of parameter date
	from, to schema.Day
	hourly   bool
	detail   bool
	kinds    rollup.KindSet // value of parameter kinds; 0 for the default kinds
	maxAge   int64          // seconds
	bulk     bool           // the query is for one city of a bulk query
}

// The bits of aqiQuery.given, one per parameter.
const (
	paramCity = 1 << iota
	paramPincode
	paramCities
	paramLat
	paramLon
	paramDate
	paramFrom
	paramTo
	paramInterval
	paramView
	paramKinds
	paramMaxAge
)

func parameterBit(name string) uint16 {
	switch name {
	case "city":
		return paramCity
	case "pincode":
		return paramPincode
	case "cities":
		return paramCities
	case "lat":
		return paramLat
	case "lon":
		return paramLon
	case "date":
		return paramDate
	case "from":
		return paramFrom
	case "to":
		return paramTo
	case "interval":
		return paramInterval
	case "view":
		return paramView
	case "kinds":
		return paramKinds
	case "max_age":
		return paramMaxAge
	}
	return 0
}

func (q *aqiQuery) has(bits uint16) bool { return q.given&bits != 0 }

// parse parses and validates the raw query of GET /v1/aqi. Its error is a *schema.Problem. It
// rejects unknown parameters, so that `citty=Delhi` is not treated as an empty query.
func parse(raw string, now time.Time) (aqiQuery, error) {
	var q aqiQuery
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, err := decodePair(pair)
		if err != nil {
			return q, err
		}
		bit := parameterBit(name)
		if bit == 0 {
			return q, unknownParameter(name)
		}
		if q.has(bit) {
			return q, invalid(name, "The parameter "+name+" occurs more than once.")
		}
		q.given |= bit
		if err := q.set(bit, name, value); err != nil {
			return q, err
		}
	}
	err := q.check(now) // it may change q
	return q, err
}

// decodePair splits one name=value pair of a query, and decodes its
// percent-encoding.
func decodePair(pair string) (name, value string, err error) {
	name, value, _ = strings.Cut(pair, "=")
	if strings.ContainsAny(name, "%+") {
		if name, err = url.QueryUnescape(name); err != nil {
			return "", "", invalid("", "The percent-encoding of the query is invalid.")
		}
	}
	if strings.ContainsAny(value, "%+") {
		if value, err = url.QueryUnescape(value); err != nil {
			return "", "", invalid(httpapi.Printable(name), "The percent-encoding of a parameter is invalid.")
		}
	}
	return name, value, nil
}

func (q *aqiQuery) set(bit uint16, name, value string) error {
	if err := checkText(name, value); err != nil {
		return err
	}
	var err error
	switch bit {
	case paramCity:
		q.city = value
		return checkName(name, value)
	case paramCities:
		q.cities = value
	case paramPincode:
		var ok bool
		if q.pin, ok = places.ParsePin(value); !ok {
			return invalid(name, "The pincode must have six digits 0–9, and must not begin with 0.")
		}
	case paramLat:
		q.point.Latitude, err = parseDegrees(name, value, 90)
	case paramLon:
		q.point.Longitude, err = parseDegrees(name, value, 180)
	case paramDate:
		q.day, err = parseDay(name, value)
	case paramFrom:
		q.from, err = parseDay(name, value)
	case paramTo:
		q.to, err = parseDay(name, value)
	case paramInterval:
		if q.hourly = value == "hour"; !q.hourly && value != "day" {
			return invalid(name, "The interval must be day or hour.")
		}
	case paramView:
		if q.detail = value == "detail"; !q.detail {
			return invalid(name, "The view must be detail.")
		}
	case paramKinds:
		q.kinds, err = parseKinds(name, value)
	case paramMaxAge:
		q.maxAge, err = parseSeconds(name, value)
	}
	return err
}

// checkText rejects texts that are invalid for every parameter, such as texts with control characters.
func checkText(name, value string) error {
	if value == "" {
		return invalid(name, "The parameter "+name+" is empty.")
	}
	for i := range len(value) {
		if value[i] >= utf8.RuneSelf {
			if !utf8.ValidString(value) {
				return invalid(name, "The parameter "+name+" is not UTF-8.")
			}
			break
		}
	}
	for _, r := range value {
		if r < 0x20 || (r >= 0x7f && (unicode.IsControl(r) || r == '\u2028' || r == '\u2029' || r == utf8.RuneError)) {
			return invalid(name, "The parameter "+name+" has a control character.")
		}
	}
	return nil
}

// checkName rejects a text that cannot be the name of a place. No similar names are then searched for it.
func checkName(field, value string) error {
	if len(value) > maxName {
		return invalid(field, "A name must have at most "+strconv.Itoa(maxName)+" bytes.")
	}
	if strings.IndexFunc(value, unicode.IsLetter) < 0 {
		return invalid(field, "A name must have at least one letter.")
	}
	return nil
}

func parseDegrees(name, value string, limit float64) (float64, error) {
	const longest = 24
	for i := range len(value) {
		if c := value[i]; (c < '0' || c > '9') && c != '.' && (c != '-' || i > 0) || len(value) > longest {
			return 0, invalid(name, "The parameter "+name+" must be a decimal number of degrees.")
		}
	}
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || math.Abs(v) > limit {
		return 0, invalid(name, "The parameter "+name+" must be between -"+strconv.Itoa(int(limit))+" and "+strconv.Itoa(int(limit))+".")
	}
	return v, nil
}

func parseDay(name, value string) (schema.Day, error) {
	if len(value) == len(time.DateOnly) {
		if day, err := schema.ParseDay(value); err == nil {
			return day, nil
		}
	}
	return 0, invalid(name, "The parameter "+name+" must be an existing date, as YYYY-MM-DD.")
}

// parseSeconds parses a whole number of seconds. The number has at most 31 bits, so that it fits into an integer of
// every language of clients.
func parseSeconds(name, value string) (int64, error) {
	n, err := strconv.ParseUint(value, 10, 31)
	if err != nil {
		return 0, invalid(name, "The parameter "+name+" must be a whole number of seconds, at least 0.")
	}
	return int64(n), nil
}

// current reports whether the query is for current figures.
func (q *aqiQuery) current() bool { return !q.has(paramDate | paramFrom | paramTo) }

// check rejects invalid combinations of parameters. interval=day is the default, so
// it is valid in every query.
func (q *aqiQuery) check(now time.Time) error {
	if err := q.checkPlace(); err != nil {
		return err
	}
	if q.current() {
		if q.hourly {
			return invalid("interval", "The interval hour requires from and to.")
		}
		return nil
	}
	if q.has(paramMaxAge) {
		return conflict("max_age", "The parameter max_age is valid only for current data.")
	}
	today := schema.DayOf(now)
	if q.has(paramDate) {
		switch {
		case q.has(paramFrom | paramTo):
			return conflict("date", "Send either date, or from and to, not both.")
		case q.hourly:
			return conflict("interval", "The interval hour requires from and to.")
		case q.day > today:
			return invalid("date", "The date is in the future (Indian time).")
		}
		return nil
	}
	return q.checkRange(today)
}

func (q *aqiQuery) checkRange(today schema.Day) error {
	days := int(q.to-q.from) + 1
	switch {
	case !q.has(paramFrom):
		return invalid("from", "A range requires from and to.")
	case !q.has(paramTo):
		return invalid("to", "A range requires from and to.")
	case q.has(paramCities):
		return conflict("cities", "A range requires one city, pincode or position.")
	case q.has(paramView):
		return conflict("view", "The parameter view is not valid for a range.")
	case q.from > q.to:
		return invalid("from", "The range ends before it begins.")
	case q.to > today:
		return invalid("to", "The range ends in the future (Indian time).")
	case days > maxDays:
		return invalid("to", "A range has at most "+strconv.Itoa(maxDays)+" days.")
	case q.hourly && days > maxHourDays:
		return invalid("to", "A range of hours has at most "+strconv.Itoa(maxHourDays)+" days.")
	}
	return nil
}

func (q *aqiQuery) checkPlace() error {
	switch place := q.given & (paramCity | paramPincode | paramCities | paramLat | paramLon); place {
	case paramCity, paramPincode, paramCities, paramLat | paramLon:
		return nil
	case 0:
		return invalid("city", "Send one of city, pincode, cities, or lat and lon.")
	case paramLat:
		return invalid("lon", "A position requires lat and lon.")
	case paramLon:
		return invalid("lat", "A position requires lat and lon.")
	default:
		field := "city"
		for _, name := range [...]string{"lon", "lat", "cities", "pincode"} {
			if place&parameterBit(name) != 0 {
				field = name
				break
			}
		}
		return conflict(field, "Send only one of city, pincode, cities, or lat and lon.")
	}
}

func invalid(field, message string) error {
	return schema.NewProblem(schema.InvalidRequest, field, message)
}

func conflict(field, message string) error {
	return schema.NewProblem(schema.ConflictingParameters, field, message)
}

func unknownParameter(name string) error {
	name = httpapi.Printable(name)
	known := []string{"city", "pincode", "cities", "lat", "lon", "date", "from", "to", "interval", "view", "kinds", "max_age"}
	return invalid(name, "There is no parameter "+name+"."+spelling.DidYouMean(name, known))
}

// parseKinds parses a list of kinds of stations such as "reference,sensor".
func parseKinds(name, value string) (rollup.KindSet, error) {
	var set rollup.KindSet
	for word := range strings.SplitSeq(value, ",") {
		switch word {
		case air.Reference.String():
			set |= rollup.DefaultKinds
		case air.Sensor.String():
			set |= rollup.KindsOf(air.Sensor)
		default:
			return 0, invalid(name, "The kinds must be reference or sensor, separated by a comma.")
		}
	}
	return set, nil
}
