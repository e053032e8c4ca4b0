package query

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/param"
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
)

// aqiQuery has the parameters of GET /v1/aqi. They are valid, but the city or pin code may not exist.
type aqiQuery struct {
	given    uint16 // bit set of the parameters that are in the query
	city     string
	cities   string
	station  string // id, or the name of an own station
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
	paramStation
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
	case "station":
		return paramStation
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
			return q, param.Invalid(name, "The parameter "+name+" occurs more than once.")
		}
		q.given |= bit
		if err := q.set(bit, name, value); err != nil {
			return q, err
		}
	}
	err := q.check(now) // it may change q
	return q, err
}

// decodePair splits one name=value pair of a query, and decodes its percent-encoding.
func decodePair(pair string) (name, value string, err error) {
	name, value, _ = strings.Cut(pair, "=")
	if strings.ContainsAny(name, "%+") {
		if name, err = url.QueryUnescape(name); err != nil {
			return "", "", param.Invalid("", "The percent-encoding of the query is invalid.")
		}
	}
	if strings.ContainsAny(value, "%+") {
		if value, err = url.QueryUnescape(value); err != nil {
			return "", "", param.Invalid(httpapi.Printable(name), "The percent-encoding of a parameter is invalid.")
		}
	}
	return name, value, nil
}

func (q *aqiQuery) set(bit uint16, name, value string) error {
	if err := param.Text(name, value); err != nil {
		return err
	}
	var err error
	switch bit {
	case paramCity:
		q.city = value
		return param.Name(name, value)
	case paramCities:
		q.cities = value
	case paramStation:
		q.station = value
		if len(value) > param.MaxName {
			return param.Invalid(name, "A station must have at most "+strconv.Itoa(param.MaxName)+" bytes.")
		}
	case paramPincode:
		var ok bool
		if q.pin, ok = places.ParsePin(value); !ok {
			return param.Invalid(name, "The pincode must have six digits 0–9, and must not begin with 0.")
		}
	case paramLat:
		q.point.Latitude, err = param.Degrees(name, value, 90)
	case paramLon:
		q.point.Longitude, err = param.Degrees(name, value, 180)
	case paramDate:
		q.day, err = param.Day(name, value)
	case paramFrom:
		q.from, err = param.Day(name, value)
	case paramTo:
		q.to, err = param.Day(name, value)
	case paramInterval:
		if q.hourly = value == "hour"; !q.hourly && value != "day" {
			return param.Invalid(name, "The interval must be day or hour.")
		}
	case paramView:
		if q.detail = value == "detail"; !q.detail {
			return param.Invalid(name, "The view must be detail.")
		}
	case paramKinds:
		q.kinds, err = parseKinds(name, value)
	case paramMaxAge:
		q.maxAge, err = param.Seconds(name, value)
	}
	return err
}

// current reports whether the query is for current figures.
func (q *aqiQuery) current() bool { return !q.has(paramDate | paramFrom | paramTo) }

// check rejects invalid combinations of parameters. interval=day is the default, so it is valid in every query.
func (q *aqiQuery) check(now time.Time) error {
	if err := q.checkPlace(); err != nil {
		return err
	}
	if q.has(paramStation) && q.has(paramKinds) && q.kinds != rollup.DefaultKinds {
		return param.Conflict("kinds", "A station has one kind.")
	}
	if q.current() {
		if q.hourly {
			return param.Invalid("interval", "The interval hour requires from and to.")
		}
		return nil
	}
	if q.has(paramMaxAge) {
		return param.Conflict("max_age", "The parameter max_age is valid only for current data.")
	}
	today := schema.DayOf(now)
	if q.has(paramDate) {
		switch {
		case q.has(paramFrom | paramTo):
			return param.Conflict("date", "Send either date, or from and to, not both.")
		case q.hourly:
			return param.Conflict("interval", "The interval hour requires from and to.")
		case q.day > today:
			return param.Invalid("date", "The date is in the future (Indian time).")
		}
		return nil
	}
	return q.checkRange(today)
}

func (q *aqiQuery) checkRange(today schema.Day) error {
	days := int(q.to-q.from) + 1
	switch {
	case !q.has(paramFrom):
		return param.Invalid("from", "A range requires from and to.")
	case !q.has(paramTo):
		return param.Invalid("to", "A range requires from and to.")
	case q.has(paramCities):
		return param.Conflict("cities", "A range requires one city, pincode, station or position.")
	case q.has(paramView):
		return param.Conflict("view", "The parameter view is not valid for a range.")
	case q.from > q.to:
		return param.Invalid("from", "The range ends before it begins.")
	case q.to > today:
		return param.Invalid("to", "The range ends in the future (Indian time).")
	case days > maxDays:
		return param.Invalid("to", "A range has at most "+strconv.Itoa(maxDays)+" days.")
	case q.hourly && days > maxHourDays:
		return param.Invalid("to", "A range of hours has at most "+strconv.Itoa(maxHourDays)+" days.")
	}
	return nil
}

func (q *aqiQuery) checkPlace() error {
	switch place := q.given & (paramCity | paramPincode | paramCities | paramStation | paramLat | paramLon); place {
	case paramCity, paramPincode, paramCities, paramStation, paramLat | paramLon:
		return nil
	case 0:
		return param.Invalid("city", "Send one of city, pincode, cities, station, or lat and lon.")
	case paramLat:
		return param.Invalid("lon", "A position requires lat and lon.")
	case paramLon:
		return param.Invalid("lat", "A position requires lat and lon.")
	default:
		field := "city"
		for _, name := range [...]string{"station", "lon", "lat", "cities", "pincode"} {
			if place&parameterBit(name) != 0 {
				field = name
				break
			}
		}
		return param.Conflict(field, "Send only one of city, pincode, cities, station, or lat and lon.")
	}
}

func unknownParameter(name string) error {
	name = httpapi.Printable(name)
	known := []string{"city", "pincode", "cities", "station", "lat", "lon", "date", "from", "to", "interval", "view", "kinds", "max_age"}
	return param.Invalid(name, "There is no parameter "+name+"."+spelling.DidYouMean(name, known))
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
			return 0, param.Invalid(name, "The kinds must be reference or sensor, separated by a comma.")
		}
	}
	return set, nil
}
