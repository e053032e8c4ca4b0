package mapping

import (
	"slices"
	"strconv"
	"strings"

	"vayu/ingest"
	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// test is a quality test of a field. The field is a quality field of the network, or the value itself.
type test struct {
	field           record.Path
	reject, clipped []string
	below, above    *float64 // reject numbers outside
	required        bool     // reject records without the field
	mapped          int      // index of the field in Mapping.fields
}

// readTests reads the section quality, whose keys are paths.
func readTests(s *section.Section) []test {
	var all []test
	for _, name := range s.Names() {
		one := s.Section(name)
		t := test{
			field: record.ParsePath(name), reject: texts(one, "reject"), clipped: texts(one, "clipped"), required: one.Bool("required", false),
			below: number(one, "reject-below"), above: number(one, "reject-above"),
		}
		record.CheckPath(one, "", name)
		if t.reject == nil && t.clipped == nil && t.below == nil && t.above == nil && !t.required {
			one.Faultf("", "needs reject, reject-below, reject-above, clipped or required")
		}
		all = append(all, t)
	}
	return all
}

func texts(s *section.Section, key string) []string {
	var all []string
	for _, e := range s.List(key) {
		all = append(all, e.Text)
	}
	return all
}

func number(s *section.Section, key string) *float64 {
	text := s.Text(key)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		s.Faultf(key, "must be a number")
		return nil
	}
	return &n
}

// seen reports whether a record has the field.
func (t *test) seen(f *record.Frame) bool {
	_, seen := f.Value(t.field)
	return seen
}

// apply returns the reason if the test rejects the value, and otherwise the flag of the value.
func (t *test) apply(f *record.Frame) (air.Flag, ingest.Reason) {
	text, _ := f.Value(t.field)
	if text == "" {
		if t.required {
			return air.Plain, ingest.Excluded
		}
		return air.Plain, ingest.None
	}
	if has(t.reject, text) {
		return air.Plain, ingest.Excluded
	}
	if t.below != nil || t.above != nil {
		n, err := strconv.ParseFloat(f.Number(text), 64)
		if err != nil || t.below != nil && !(n >= *t.below) || t.above != nil && !(n <= *t.above) {
			return air.Plain, ingest.Excluded
		}
	}
	if has(t.clipped, text) {
		return air.Clipped, ingest.None
	}
	return air.Plain, ingest.None
}

// has reports whether a list contains a text. Two numbers are equal in any form, such as 999.9 and "999.90".
func has(all []string, text string) bool {
	if len(all) == 0 {
		return false
	}
	if slices.Contains(all, text) {
		return true
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(all, func(one string) bool {
		m, err := strconv.ParseFloat(one, 64)
		return err == nil && m == n
	})
}

// area is the region whose records are accepted: a country and a box of positions.
type area struct {
	countryField []record.Path
	countries    []string
	box          []float64 // south, west, north, east in degrees; nil for none
	india        bool      // positions outside the outline of India are outside the area
}

func readArea(s *section.Section) area {
	a := area{countryField: record.ReadPaths(s, "country-field"), countries: texts(s, "country"), india: s.Choice("inside", "", "india") != ""}
	if (a.countryField == nil) != (a.countries == nil) {
		s.Faultf("country", "needs country-field, and country-field needs country")
	}
	entries := s.List("box")
	for _, e := range entries {
		n, err := strconv.ParseFloat(e.Text, 64)
		if err == nil {
			a.box = append(a.box, n)
		}
	}
	if len(entries) > 0 && (len(a.box) != 4 || len(entries) != 4 || a.box[0] >= a.box[2] || a.box[1] >= a.box[3]) {
		s.Faultf("box", "must be [south, west, north, east] in degrees")
		a.box = nil
	}
	return a
}

// inCountry reports whether the country of a record is accepted. A record without a country is accepted.
func (a *area) inCountry(f *record.Frame) bool {
	if a.countries == nil {
		return true
	}
	country, _ := f.Text(a.countryField)
	return country == "" || slices.ContainsFunc(a.countries, func(c string) bool { return strings.EqualFold(c, country) })
}

// contains reports whether the box contains a position. A missing position is accepted.
func (a *area) contains(lat, lon float64) bool {
	if lat == 0 && lon == 0 {
		return true
	}
	if a.india {
		if _, ok := gazetteer.State(geo.Point{Latitude: lat, Longitude: lon}); !ok {
			return false
		}
	}
	return len(a.box) == 0 || lat >= a.box[0] && lon >= a.box[1] && lat <= a.box[2] && lon <= a.box[3]
}
