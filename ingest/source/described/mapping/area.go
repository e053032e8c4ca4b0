package mapping

import (
	"slices"
	"strconv"
	"strings"

	"vayu/ingest/source/described/record"
	"vayu/internal/config/section"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// area is the region from which records are accepted: countries, a box of positions, or India.
type area struct {
	countryField []record.Path
	countries    []string
	box          []float64 // south, west, north, east in degrees; nil for none
	india        bool      // reject positions outside the border of India
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

// inCountry reports whether the country of a record is accepted. A record that states no country is accepted.
func (a *area) inCountry(f *record.Frame) bool {
	if a.countries == nil {
		return true
	}
	country, _ := f.Text(a.countryField)
	return country == "" || slices.ContainsFunc(a.countries, func(c string) bool { return strings.EqualFold(c, country) })
}

// contains reports whether a position is in the area. A missing position (0, 0) is accepted.
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
