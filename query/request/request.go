// Package request parses the parameters of GET /v1/aqi.
package request

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/param"
	"vayu/query/places"
	"vayu/schema"
	"vayu/schema/scale"
	"vayu/schema/spelling"
)

// These are the limits of the parameters of GET /v1/aqi.
const (
	maxCities   = 100
	maxDays     = 366
	maxHourDays = 31
)

// Query has the parameters of GET /v1/aqi. They are valid, but the city or pin code may not exist.
type Query struct {
	given    uint32 // bit set of the parameters that are in the query
	City     string
	Cities   string
	Station  string // id, or the name of an own station
	Pin      int32
	Point    places.Point
	Day      schema.Day // value of parameter date
	From, To schema.Day
	Hourly   bool
	Detail   bool
	Kinds    aggregate.KindSet // value of parameter kinds; 0 for the default kinds
	MaxAge   int64             // seconds
	Scale    scale.Scale       // 0 for none
	Box      param.Box         // value of parameter bbox, in degrees; zero without HasBox
	Bulk     bool              // the query is for one of the cities of a bulk query or a box (see One)
	Paging   map[string]string // the parameters of a page: bbox, limit and cursor
}

// These are the bits of Query.given, one for each parameter, in the order of `parameters`.
const (
	HasCity = 1 << iota
	HasPincode
	HasCities
	HasLat
	HasLon
	HasDate
	HasFrom
	HasTo
	HasInterval
	HasView
	HasKinds
	HasMaxAge
	HasStation
	HasScale
	HasBox
	HasLimit
	HasCursor
)

// parameters has the names of the query parameters. The index of a name is the number of its bit in Query.given.
var parameters = [...]string{
	"city", "pincode", "cities", "lat", "lon", "date", "from", "to", "interval", "view", "kinds", "max_age", "station", "scale",
	"bbox", "limit", "cursor",
}

// parameterBit returns the bit of a parameter; 0 for an unknown name.
func parameterBit(name string) uint32 {
	if i := slices.Index(parameters[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// Has reports whether the query has at least one of the parameters in `bits`, a set of the constants Has…, such as
// HasLat|HasLon.
func (q *Query) Has(bits uint32) bool { return q.given&bits != 0 }

// Parse parses and validates the raw query of GET /v1/aqi. Its error is a *schema.Problem. It rejects unknown
// parameters, so that `citty=Delhi` is not treated as an empty query.
func Parse(raw string, now time.Time) (Query, error) {
	var q Query
	for raw != "" {
		var pair string
		pair, raw, _ = strings.Cut(raw, "&")
		if pair == "" {
			continue
		}
		name, value, err := param.Pair(pair)
		if err != nil {
			return q, err
		}
		bit := parameterBit(name)
		if bit == 0 {
			return q, unknownParameter(name)
		}
		if q.Has(bit) {
			return q, param.Invalid(name, "The parameter "+name+" occurs more than once.")
		}
		q.given |= bit
		if err := q.set(bit, name, value); err != nil {
			return q, err
		}
	}
	err := q.check(now)
	return q, err
}

func (q *Query) set(bit uint32, name, value string) error {
	if err := param.Text(name, value); err != nil {
		return err
	}
	var err error
	switch bit {
	case HasCity:
		q.City = value
		return param.Name(name, value)
	case HasCities:
		q.Cities = value
	case HasStation:
		q.Station = value
		if utf8.RuneCountInString(value) > param.MaxName {
			return param.Invalid(name, "A station must have at most "+strconv.Itoa(param.MaxName)+" characters.")
		}
	case HasPincode:
		var ok bool
		if q.Pin, ok = places.ParsePin(value); !ok {
			return param.Invalid(name, "The pincode must have six digits 0–9, and must not begin with 0.")
		}
	case HasLat:
		q.Point.Latitude, err = param.Degrees(name, value, 90)
	case HasLon:
		q.Point.Longitude, err = param.Degrees(name, value, 180)
	case HasDate:
		q.Day, err = param.Day(name, value)
	case HasFrom:
		q.From, err = param.Day(name, value)
	case HasTo:
		q.To, err = param.Day(name, value)
	case HasInterval:
		if q.Hourly = value == "hour"; !q.Hourly && value != "day" {
			return param.Invalid(name, "The interval must be day or hour.")
		}
	case HasView:
		if q.Detail = value == "detail"; !q.Detail {
			return param.Invalid(name, "The view must be detail.")
		}
	case HasKinds:
		q.Kinds, err = param.Kinds(name, value)
	case HasScale:
		q.Scale, err = param.Scale(name, value)
	case HasMaxAge:
		q.MaxAge, err = param.Seconds(name, value)
	case HasBox:
		q.page(name, value)
		q.Box, err = param.ParseBox(value)
	case HasLimit:
		q.page(name, value)
		_, err = param.Count(name, value, maxCities)
	case HasCursor:
		q.page(name, value)
	}
	return err
}

func (q *Query) page(name, value string) {
	if q.Paging == nil {
		q.Paging = map[string]string{}
	}
	q.Paging[name] = value
}

// Current reports whether the query is for current figures.
func (q *Query) Current() bool { return !q.Has(HasDate | HasFrom | HasTo) }

// check rejects invalid combinations of parameters. interval=day is the default, so it is valid in every query.
func (q *Query) check(now time.Time) error {
	if err := q.checkPlace(); err != nil {
		return err
	}
	switch {
	case q.Has(HasBox):
	case q.Has(HasCursor):
		return param.Conflict("cursor", "The parameter cursor requires bbox.")
	case q.Has(HasLimit) && q.Paging["limit"] != strconv.Itoa(maxCities): // the default is valid in every query
		return param.Conflict("limit", "The parameter limit requires bbox.")
	}
	if q.Has(HasStation) && q.Has(HasKinds) && q.Kinds != aggregate.DefaultKinds {
		return param.Conflict("kinds", "A station has one kind.")
	}
	if q.Current() {
		if q.Hourly {
			return param.Invalid("interval", "The interval hour requires from and to.")
		}
		return nil
	}
	if q.Has(HasMaxAge) {
		return param.Conflict("max_age", "The parameter max_age is valid only for current data.")
	}
	today := schema.DayOf(now)
	if q.Has(HasDate) {
		switch {
		case q.Has(HasFrom | HasTo):
			return param.Conflict("date", "Send either date, or from and to, not both.")
		case q.Hourly:
			return param.Conflict("interval", "The interval hour requires from and to.")
		case q.Day > today:
			return param.Invalid("date", "The date is in the future (Indian time).")
		}
		return nil
	}
	return q.checkRange(today)
}

const oneOfRange = "A range requires one city, pincode, station or position."

func (q *Query) checkRange(today schema.Day) error {
	days := int(q.To-q.From) + 1
	switch {
	case !q.Has(HasFrom):
		return param.Invalid("from", "A range requires from and to.")
	case !q.Has(HasTo):
		return param.Invalid("to", "A range requires from and to.")
	case q.Has(HasCities):
		return param.Conflict("cities", oneOfRange)
	case q.Has(HasBox):
		return param.Conflict("bbox", oneOfRange)
	case q.Has(HasView):
		return param.Conflict("view", "The parameter view is not valid for a range.")
	case q.From > q.To:
		return param.Invalid("from", "The range ends before it begins.")
	case q.To > today:
		return param.Invalid("to", "The range ends in the future (Indian time).")
	case days > maxDays:
		return param.Invalid("to", "A range has at most "+strconv.Itoa(maxDays)+" days.")
	case q.Hourly && days > maxHourDays:
		return param.Invalid("to", "A range of hours has at most "+strconv.Itoa(maxHourDays)+" days.")
	}
	return nil
}

func (q *Query) checkPlace() error {
	switch place := q.given & (HasCity | HasPincode | HasCities | HasBox | HasStation | HasLat | HasLon); place {
	case HasCity, HasPincode, HasCities, HasBox, HasStation:
		return nil
	case HasLat | HasLon:
		return param.Position(q.Point)
	case 0:
		return param.Invalid("city", "Send one of city, pincode, cities, bbox, station, or lat and lon.")
	case HasLat:
		return param.Invalid("lon", "A position requires lat and lon.")
	case HasLon:
		return param.Invalid("lat", "A position requires lat and lon.")
	default:
		field := "city"
		for _, name := range [...]string{"bbox", "station", "lon", "lat", "cities", "pincode"} {
			if place&parameterBit(name) != 0 {
				field = name
				break
			}
		}
		return param.Conflict(field, "Send only one of city, pincode, cities, bbox, station, or lat and lon.")
	}
}

func unknownParameter(name string) error {
	name = httpapi.Printable(name)
	return param.Invalid(name, "There is no parameter "+name+"."+spelling.DidYouMean(name, parameters[:]))
}

// Place parses only the parameters of a place, which is a city, a pin code or a position.
func Place(params map[string]string) (q Query, err error) {
	for _, name := range [...]string{"city", "pincode", "lat", "lon"} {
		if value, given := params[name]; given {
			bit := parameterBit(name)
			q.given |= bit
			if err := q.set(bit, name, value); err != nil {
				return q, err
			}
		}
	}
	if q.given == 0 {
		return q, param.Invalid("city", "Give one of city, pincode, or lat and lon.")
	}
	err = q.checkPlace()
	return q, err
}

// One returns the query for one of the cities of a bulk query, or of a box.
func (q *Query) One(city string) Query {
	one := *q
	one.City, one.given, one.Bulk = city, q.given&^(HasCities|HasBox)|HasCity, true
	return one
}

// Names returns the names of the cities of a bulk query.
func (q *Query) Names() ([]string, error) { return param.Cities(q.Cities, maxCities) }

// SetAge sets the age of an answer. It returns an error if the answer is older than max_age. For a query about
// several cities, it returns no error: the caller checks each city with the query that One returns.
func (q *Query) SetAge(resp *httpapi.Response, now time.Time) error {
	if resp.Measured == 0 {
		return nil
	}
	resp.DataAge = max(now.Unix()-resp.Measured, 0)
	resp.Stale = resp.DataAge > int64(aggregate.StaleAfter/time.Second)
	if !q.Has(HasMaxAge) || resp.DataAge <= q.MaxAge || q.Has(HasCities|HasBox) {
		return nil
	}
	return schema.NewProblem(schema.NoCurrentData, "max_age",
		fmt.Sprintf("The latest data is %d seconds old, and max_age is %d.", resp.DataAge, q.MaxAge))
}
