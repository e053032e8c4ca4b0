package draft

import (
	"net/url"
	"regexp"
	"slices"
	"strings"

	"vayu/ingest/source/described/draft/note"
	"vayu/ingest/source/described/draft/sample"
	"vayu/ingest/source/described/record"
)

// station is the guess about the fields that describe the stations.
type station struct {
	id, name, city, state *sample.Field
	latitude, longitude   *sample.Field
	swapped               string // evidence for which of a pair of coordinates is the latitude
	country               *sample.Field
	one                   bool // the reply is about a single station
	fixed                 guess
	unsure                bool // the id may be that of a record, not of a station
}

// Names of fields that describe a station, the best first.
var (
	idNames = []string{
		"stationid", "siteid", "locationid", "stationcode", "sitecode", "station.id", "site.id", "location.id", "station.code", "monitorid", "deviceid", "sensorid",
		"nodeid", "sensorindex", "device.id", "sensor.id", "station", "site", "location", "device", "monitor", "sensor", "node", "serialno", "serialnumber", "serial", "mac", "code", "uid", "key", "id",
	}
	nameNames = []string{"stationname", "sitename", "locationname", "station.name", "site.name", "location.name", "name", "title", "label", "devicename", "station", "site", "locality", "location", "address"}
	latNames  = []string{"latitude", "lat", "stationlatitude", "sitelatitude", "y"}
	lonNames  = []string{"longitude", "lon", "lng", "long", "stationlongitude", "sitelongitude", "x"}
	cityNames = []string{"city", "cityname", "town", "district", "locality"}
	areaNames = []string{"state", "statename", "province", "region"}
)

// otherObjects are names of objects in a record whose id or name is not that of a station.
var otherObjects = []string{"parameter", "pollutant", "unit", "units", "period", "coverage", "sensortype", "provider", "owner", "instruments", "license", "licenses", "meta", "pagination"}

// pick returns a non-empty field that has one of the names and that the function `ok` accepts. Earlier names win.
func pick(fields []*sample.Field, names []string, ok func(*sample.Field) bool) *sample.Field {
	for _, name := range names {
		for _, f := range fields {
			own := f.Folded()
			if strings.Contains(name, ".") {
				parent := f.Parent()
				own = sample.Fold(parent[strings.LastIndexByte(parent, '.')+1:]) + "." + own
			}
			if own == name && f.Filled() > 0 && ok(f) {
				return f
			}
		}
	}
	return nil
}

// findStation finds the fields that describe the stations.
func findStation(fields []*sample.Field, time *sample.Field, p sample.Place) station {
	fields = slices.DeleteFunc(slices.Clone(fields), func(f *sample.Field) bool { return f == time || f.Among(otherObjects) })
	text := func(f *sample.Field) bool { return !f.IsNumber() }
	var s station
	s.latitude = pick(fields, latNames, func(f *sample.Field) bool { return f.Degrees(90) })
	s.longitude = pick(fields, lonNames, func(f *sample.Field) bool { return f.Degrees(180) })
	if s.latitude == nil || s.longitude == nil {
		s.findPair(fields)
	}
	s.id = pick(fields, idNames, func(f *sample.Field) bool { return f.Filled()*10 >= f.Present*9 && !f.Varies() && isKey(f) })
	if s.id != nil && s.id.Name == "id" && s.id.Parent() == "" && p.Count > 1 {
		s.unsure = true
		if s.latitude != nil && distinct(s.id) > distinct(s.latitude) && distinct(s.latitude) < p.Count {
			s.id = nil // ids differ although positions are equal, so the ids are those of records
		}
	}
	s.name = pick(fields, nameNames, func(f *sample.Field) bool { return text(f) && !f.Varies() })
	s.city = pick(fields, cityNames, text)
	s.state = pick(fields, areaNames, text)
	s.country = pick(fields, []string{"countrycode", "country.code", "country", "iso"}, text)
	if s.id == nil {
		s.id = s.keyOfPositions(fields)
	}
	if s.id == nil {
		s.id = pick(fields, nameNames, func(f *sample.Field) bool { return !f.Varies() && isKey(f) })
	}
	s.fixed = guess{"1", note.Guessed, "the reply is of one station without a number"}
	s.one = s.id == nil && (p.Shape == record.ShapeObject || p.Count == 1)
	return s
}

func distinct(f *sample.Field) int { return len(f.Texts) }

// isKey reports whether the values of a field can identify stations: short texts or whole numbers, but not times.
func isKey(f *sample.Field) bool {
	format, _ := sample.TimeFormat(f.Texts)
	return format == "" && !slices.ContainsFunc(f.Texts, func(t string) bool { return len(t) > 100 || strings.Contains(t, ".") && f.IsNumber() })
}

// keyOfPositions returns a field whose name ends with code, id or no, if its values differ exactly where positions do.
func (s *station) keyOfPositions(fields []*sample.Field) *sample.Field {
	if s.latitude == nil || s.longitude == nil || len(s.latitude.All) != len(s.longitude.All) {
		return nil
	}
	for _, f := range fields {
		name := f.Folded()
		if !strings.HasSuffix(name, "code") && !strings.HasSuffix(name, "id") && !strings.HasSuffix(name, "no") || len(f.All) != len(s.latitude.All) || !isKey(f) {
			continue
		}
		at, of := make(map[string]string), make(map[string]string)
		same := true
		for i, key := range f.All {
			position := s.latitude.All[i] + " " + s.longitude.All[i]
			if at[key] != "" && at[key] != position || of[position] != "" && of[position] != key {
				same = false
				break
			}
			at[key], of[position] = position, key
		}
		if same {
			return f
		}
	}
	return nil
}

// findOutside finds the station in the part of the reply outside its records. It uses an id or name only if the name of
// its field contains station, site or location. A plain id or name may describe the API.
func (s *station) findOutside(fields []*sample.Field) {
	certain := func(names []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(n string) bool {
			return !strings.Contains(n, "station") && !strings.Contains(n, "site") && !strings.Contains(n, "location")
		})
	}
	anyValue := func(f *sample.Field) bool { return !f.Among(otherObjects) && isKey(f) }
	s.id = pick(fields, certain(idNames), anyValue)
	if s.id == nil {
		return
	}
	s.one = false
	if s.name == nil {
		s.name = pick(fields, certain(nameNames), anyValue)
	}
	if s.latitude == nil || s.longitude == nil {
		s.latitude = pick(fields, latNames, func(f *sample.Field) bool { return f.Degrees(90) })
		s.longitude = pick(fields, lonNames, func(f *sample.Field) bool { return f.Degrees(180) })
	}
}

// idInPath captures a part of a URL's path that may be the id of a station or sensor, such as 4711 or site_123.
var idInPath = regexp.MustCompile(`/([0-9]{2,}|[a-z]+_[0-9]+)(?:/|$)`)

// fromAddress takes the id of the station from the path of the URL if the reply has no field with an id.
func (s *station) fromAddress(address string) {
	u, err := url.Parse(address)
	if err != nil || s.id != nil {
		return
	}
	if m := idInPath.FindStringSubmatch(u.Path); m != nil {
		s.one, s.fixed = true, guess{m[1], note.Guessed, "the path of the address; the key partitions makes one call for each of several stations"}
	}
}

// findPair finds latitude and longitude in a field whose value is a list of two coordinates, as in GeoJSON.
func (s *station) findPair(fields []*sample.Field) {
	for i := 1; i < len(fields); i++ {
		first, second := fields[i-1], fields[i]
		base, ok := strings.CutSuffix(first.Path, ".0")
		if !ok || second.Path != base+".1" || !first.Degrees(180) || !second.Degrees(180) {
			continue
		}
		geojson := strings.HasSuffix(base, "coordinates")
		switch {
		case first.Within(6, 38) && second.Within(68, 98):
			s.latitude, s.longitude, s.swapped = first, second, "; a latitude of India precedes the longitude"
		case geojson || first.Within(68, 98) && second.Within(6, 38) || !first.Degrees(90):
			s.latitude, s.longitude, s.swapped = second, first, "; the longitude comes first, as in GeoJSON"
		default:
			s.latitude, s.longitude, s.swapped = first, second, "; is the first one the latitude?"
		}
		return
	}
}

// write writes the section `station`.
func (s *station) write(w *note.Writer) {
	w.Section("station", func() {
		switch {
		case s.one:
			w.Section("fixed", func() { w.Key("id", s.fixed.value, s.fixed.certainty, "%s", s.fixed.evidence) })
		case s.id == nil:
			w.Key("id", fillIn, note.Unknown, "the path of the station's number; no field looks like one")
		case s.unsure:
			w.Key("id", s.id.Path, note.Guessed, "%s; is it the number of the station, or of the record?", s.id.Sample())
		default:
			w.Key("id", s.id.Path, note.Found, "%s", s.id.Sample())
		}
		for _, one := range []struct {
			key string
			f   *sample.Field
		}{{"name", s.name}, {"city", s.city}, {"state", s.state}} {
			if one.f != nil {
				w.Key(one.key, one.f.Path, note.Found, "%s", one.f.Sample())
			}
		}
		if s.latitude != nil && s.longitude != nil {
			w.Key("latitude", s.latitude.Path, note.Found, "%s%s", s.latitude.Sample(), s.swapped)
			w.Key("longitude", s.longitude.Path, note.Found, "%s", s.longitude.Sample())
		} else {
			w.Missing("station.latitude", "no field has positions", "no field has positions. Without a position a station counts for no city.")
		}
		w.Key("kind", "sensor", note.Guessed, "reference, if these are monitors of an authority")
	})
	if s.country == nil {
		return
	}
	var indian, foreign []string
	for _, text := range s.country.Texts {
		if strings.EqualFold(text, "IN") || strings.EqualFold(text, "IND") || strings.EqualFold(text, "India") {
			indian = append(indian, text)
		} else {
			foreign = append(foreign, text)
		}
	}
	if len(foreign) == 0 || len(indian) == 0 {
		return
	}
	w.Section("area", func() {
		w.Key("country-field", s.country.Path, note.Found, "%s", s.country.Sample())
		w.List("country", indian, note.Guessed, "readings of other countries are rejected")
	})
}
