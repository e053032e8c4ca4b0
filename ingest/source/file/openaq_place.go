package file

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/schema"
	"vayu/schema/geo"
	"vayu/schema/parameter"
)

// openaqPlace is a location of OpenAQ's third version, with the fields that
// describe a station.
type openaqPlace struct {
	ID       int64  `json:"id"`
	Name     string `json:"name"`
	Locality string `json:"locality"`
	Country  struct {
		Code string `json:"code"`
		Name string `json:"name"`
	} `json:"country"`
	Owner       struct{ Name string } `json:"owner"`
	Provider    struct{ Name string } `json:"provider"`
	IsMonitor   *bool                 `json:"isMonitor"`
	Sensors     []openaqSensor        `json:"sensors"`
	Coordinates *openaqPoint          `json:"coordinates"`
	Licenses    []openaqTerms         `json:"licenses"`
}

type openaqPoint struct {
	Latitude  cpcbformat.Scalar `json:"latitude"`
	Longitude cpcbformat.Scalar `json:"longitude"`
}

// openaqTerms is a licence of a location with its attribution.
type openaqTerms struct {
	Name        string                `json:"name"`
	Attribution struct{ Name string } `json:"attribution"`
}

// openaqSensor is one parameter of a location in one unit.
type openaqSensor struct {
	ID        int64           `json:"id"`
	Parameter openaqParameter `json:"parameter"`
}

type openaqParameter struct {
	Name  string `json:"name"`
	Units string `json:"units"`
}

// monitors are reference stations whose kind the archive lacks: the locations of
// the United States in New Delhi and Mumbai.
var monitors = []int64{8118, 8039}

// kind distinguishes a reference station from a low-cost sensor. A station outside
// India's network whose kind is unspecified counts as a sensor, because a sensor
// counted as reference falsifies its city.
func (p *openaqPlace) kind() schema.StationKind {
	provider := strings.ToLower(p.Provider.Name)
	lowCost := slices.ContainsFunc(sensorSources, func(s string) bool { return strings.Contains(provider, s) })
	switch {
	case lowCost:
		return schema.Sensor
	case p.IsMonitor != nil && *p.IsMonitor, p.IsMonitor == nil && slices.Contains(monitors, p.ID):
		return schema.Reference
	}
	return schema.Sensor
}

// abroad reports whether the location is outside India. A location without country
// and position is not.
func (p *openaqPlace) abroad() bool {
	if p.Country.Code != "" {
		return p.Country.Code != "IN"
	}
	if p.Coordinates == nil {
		return false
	}
	lat, lon, reason := cpcbformat.Position(string(p.Coordinates.Latitude), string(p.Coordinates.Longitude))
	return reason == ingest.None && (lat != 0 || lon != 0) && !inIndia(lat, lon)
}

// inIndia is [geo.InIndia] without Sri Lanka, which lies in the same box and time
// zone.
func inIndia(lat, lon float64) bool {
	return geo.InIndia(lat, lon) && !(lat < 9.9 && lon > 79.5 && lon < 82)
}

// describe makes a station from the location. A station of India's network keeps
// its id. Another id contains OpenAQ's number, because names at OpenAQ repeat.
func (p *openaqPlace) describe(b *ingest.Builder) schema.Station {
	var lat, lon float64
	if p.Coordinates != nil {
		lat, lon = position([]byte(p.Coordinates.Latitude), []byte(p.Coordinates.Longitude), b)
	}
	name := schema.CleanPlace(p.Name)
	if _, _, ok := cpcbformat.Split(name); ok {
		return cpcbformat.Station(name, "", "", lat, lon)
	}
	s := schema.Station{
		ID: schema.StationID("openaq", name+"-"+strconv.FormatInt(p.ID, 10)), Name: name, Latitude: lat, Longitude: lon, Kind: p.kind(),
	}
	if !strings.EqualFold(p.Locality, p.Country.Name) {
		s.City = p.Locality
	}
	s.Licence, s.Attribution = p.terms()
	return s
}

// terms returns the licences and attributions of a location, always including
// OpenAQ.
func (p *openaqPlace) terms() (licence, attribution string) {
	var licences, names []string
	add := func(list *[]string, text string) {
		if text != "" && len(text) < 200 && !slices.Contains(*list, text) {
			*list = append(*list, text)
		}
	}
	for _, l := range p.Licenses {
		add(&licences, l.Name)
		add(&names, l.Attribution.Name)
	}
	if len(names) == 0 {
		add(&names, p.Provider.Name)
	}
	if len(licences) == 0 {
		licences = []string{"as OpenAQ states for the location"}
	}
	return strings.Join(licences, "; "), strings.Join(append(names, "OpenAQ"), "; ")
}

// openaqPlaces are the known locations of a file by number, and their sensors.
type openaqPlaces struct {
	places  map[int64]*openaqPlace
	sensors map[int64]sensorAt
}

type sensorAt struct {
	place     *openaqPlace
	parameter openaqParameter
}

// add adds the locations of a page. It skips results without sensors, which are no
// locations.
func (p *openaqPlaces) add(places []openaqPlace) {
	if p.places == nil {
		p.places, p.sensors = make(map[int64]*openaqPlace), make(map[int64]sensorAt)
	}
	for i := range places {
		place := &places[i]
		if len(place.Sensors) == 0 || place.Name == "" {
			continue
		}
		p.places[place.ID] = place
		for _, s := range place.Sensors {
			p.sensors[s.ID] = sensorAt{place, s.Parameter}
		}
	}
}

// Limits of the location files that are read for a file: their number, and the size of
// each. A page of 1,000 locations has about 2 MB.
const (
	maxPlaces     = 200
	maxPlaceBytes = 8 << 20
)

// beside reads the saved replies of /v3/locations in the same folder as a file. Their
// names begin with "location". It skips files that are no such reply.
func (p *openaqPlaces) beside(path string) error {
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return nil //nolint:nilerr // without these files the stations may still be known
	}
	read := 0
	for _, entry := range entries {
		name := strings.ToLower(entry.Name())
		if !strings.HasPrefix(name, "location") || !strings.HasSuffix(strings.TrimSuffix(name, ".gz"), ".json") || !entry.Type().IsRegular() {
			continue
		}
		if read++; read > maxPlaces {
			return refuse("more than %d saved replies with locations lie beside the file", maxPlaces)
		}
		if places, ok := readPlaces(filepath.Join(filepath.Dir(path), entry.Name())); ok {
			p.add(places)
		}
	}
	return nil
}

func readPlaces(path string) ([]openaqPlace, bool) {
	in, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer in.Close()
	text, err := decode(in)
	if err != nil {
		return nil, false
	}
	var page struct {
		Results []openaqPlace `json:"results"`
	}
	if json.NewDecoder(io.LimitReader(text, maxPlaceBytes)).Decode(&page) != nil {
		return nil, false
	}
	return page.Results, true
}

// openaqValue converts a value of a station into the parameter's own unit.
//
// CO in ppb below 30 is read as mg/m³. Since February 2025 OpenAQ labels CPCB's CO
// as ppb with values of 0.3 to 1.2. Its fetcher passes CPCB's mg/m³ on unchanged.
// Clean air has at least 40 ppb, and Indian stations report less than 30 mg/m³. So
// the value shows its unit. NO2 and SO2 of these sensors may have wrong labels too.
// Their values do not show that, so the label applies.
func openaqValue(p parameter.Parameter, v float64, unit string) (float64, bool) {
	if p == parameter.CO && strings.EqualFold(strings.TrimSpace(unit), "ppb") && v < 30 {
		return v, true
	}
	return p.Convert(v, unit)
}
