package param

import (
	"fmt"
	"net/url"
	"strings"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
	"vayu/schema/scale"
	"vayu/schema/spelling"
)

// Pair splits one name=value pair of a query, and decodes its percent-encoding.
func Pair(pair string) (name, value string, err error) {
	name, value, _ = strings.Cut(pair, "=")
	if strings.ContainsAny(name, "%+") {
		if name, err = url.QueryUnescape(name); err != nil {
			return "", "", Invalid("", "The percent-encoding of the query is invalid.")
		}
	}
	if strings.ContainsAny(value, "%+") {
		if value, err = url.QueryUnescape(value); err != nil {
			return "", "", Invalid(httpapi.Printable(name), "The percent-encoding of a parameter is invalid.")
		}
	}
	return name, value, nil
}

// Cities splits a list of at most `most` cities at its commas. The item after the name of a city may be its state, if
// cities in several states have that name. For example, "Pune,Aurangabad, Bihar,Delhi" are three cities.
func Cities(list string, most int) ([]string, error) {
	items := strings.Split(list, ",")
	names := items[:0]
	for i := 0; i < len(items); i++ {
		name := strings.TrimSpace(items[i])
		if name == "" {
			return nil, Invalid("cities", "The parameter cities has an empty name.")
		}
		if err := Name("cities", name); err != nil {
			return nil, err
		}
		if i+1 < len(items) && gazetteer.Homonymous(name) {
			full := name + ", " + strings.TrimSpace(items[i+1])
			if len(gazetteer.Lookup(full)) == 1 {
				name = full
				i++
			}
		}
		names = append(names, name)
	}
	if len(names) > most {
		return nil, schema.NewProblem(schema.TooManyLocations, "cities",
			fmt.Sprintf("A request can have at most %d cities. This one has %d.", most, len(names)))
	}
	return names, nil
}

// Kinds parses a list of kinds of stations such as "reference,sensor". Here "reference" includes air.CityMean.
func Kinds(name, value string) (aggregate.KindSet, error) {
	var set aggregate.KindSet
	for word := range strings.SplitSeq(value, ",") {
		switch word {
		case air.Reference.String():
			set |= aggregate.DefaultKinds
		case air.Sensor.String():
			set |= aggregate.KindsOf(air.Sensor)
		default:
			return 0, Invalid(name, "The kinds must be reference or sensor, separated by a comma.")
		}
	}
	return set, nil
}

// Position rejects a position that would be in India if its coordinates were swapped.
func Position(p geo.Point) error {
	if geo.InIndia(p.Longitude, p.Latitude) {
		return Invalid("lat", "The position has its longitude in lat, and its latitude in lon.")
	}
	return nil
}

// Scale parses the identifier of an air quality index, such as "us".
func Scale(name, value string) (scale.Scale, error) {
	s, ok := scale.Parse(value)
	if !ok {
		ids := scale.IDs()
		last := len(ids) - 1
		return 0, Invalid(name, "The scale must be "+strings.Join(ids[:last], ", ")+" or "+ids[last]+"."+spelling.DidYouMean(value, ids))
	}
	return s, nil
}
