package openaq

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
	"vayu/ingest/source/file/table"
	"vayu/schema/air"
	"vayu/schema/geo"
	"vayu/schema/parameter"
)

// location is a location in version 3 of OpenAQ's API, with those fields that describe a station.
type location struct {
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
	Sensors     []sensor              `json:"sensors"`
	Coordinates *point                `json:"coordinates"`
	Licenses    []terms               `json:"licenses"`
}

type point struct {
	Latitude  cpcbformat.Scalar `json:"latitude"`
	Longitude cpcbformat.Scalar `json:"longitude"`
}

// terms is one licence of a location, with its attribution.
type terms struct {
	Name        string                `json:"name"`
	Attribution struct{ Name string } `json:"attribution"`
}

// sensor is a sensor of a location. It measures one parameter in one unit.
type sensor struct {
	ID        int64    `json:"id"`
	Parameter quantity `json:"parameter"`
}

type quantity struct {
	Name  string `json:"name"`
	Units string `json:"units"`
}

// monitors has the numbers of locations that are reference stations, although OpenAQ's archive does not state their
// kind. They are the stations of the United States in New Delhi and Mumbai.
var monitors = []int64{8118, 8039}

// kind returns whether the location is a reference station or a low-cost sensor. A location of a provider in
// sensorSources is always a sensor. If OpenAQ does not state the kind, the location is a sensor unless it is in
// `monitors`: a sensor that counted as a reference station could falsify the AQI of its city.
func (p *location) kind() air.StationKind {
	provider := strings.ToLower(p.Provider.Name)
	lowCost := slices.ContainsFunc(sensorSources, func(s string) bool { return strings.Contains(provider, s) })
	switch {
	case lowCost:
		return air.Sensor
	case p.IsMonitor != nil && *p.IsMonitor, p.IsMonitor == nil && slices.Contains(monitors, p.ID):
		return air.Reference
	}
	return air.Sensor
}

// abroad reports whether the location is outside India. A location with neither a country nor a valid position counts
// as inside India.
func (p *location) abroad() bool {
	if p.Country.Code != "" {
		return p.Country.Code != "IN"
	}
	if p.Coordinates == nil {
		return false
	}
	lat, lon, reason := cpcbformat.Position(string(p.Coordinates.Latitude), string(p.Coordinates.Longitude))
	return reason == ingest.None && (lat != 0 || lon != 0) && !inIndia(lat, lon)
}

// inIndia reports whether a position is in the box of [geo.InIndia] around India, but not in Sri Lanka, which is in the
// same box.
func inIndia(lat, lon float64) bool {
	return geo.InIndia(lat, lon) && !(lat < 9.9 && lon > 79.5 && lon < 82)
}

// describe returns the station at the location. A station with a name of CPCB's network gets the id that it has in that
// network. Other ids contain the location's number, because several locations may have the same name.
func (p *location) describe(b *ingest.Builder) air.Station {
	var lat, lon float64
	if p.Coordinates != nil {
		lat, lon = table.Position([]byte(p.Coordinates.Latitude), []byte(p.Coordinates.Longitude), b)
	}
	name := air.CleanPlace(p.Name)
	if _, _, ok := cpcbformat.Split(name); ok {
		return cpcbformat.Station(name, "", "", lat, lon)
	}
	s := air.Station{
		ID: air.StationID("openaq", name+"-"+strconv.FormatInt(p.ID, 10)), Name: name, Latitude: lat, Longitude: lon, Kind: p.kind(),
	}
	if !strings.EqualFold(p.Locality, p.Country.Name) {
		s.City = p.Locality
	}
	s.Licence, s.Attribution = p.terms()
	return s
}

// terms returns the licences and the attributions of a location. The attributions always include OpenAQ.
func (p *location) terms() (licence, attribution string) {
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

// locations has the known locations and their sensors, by the numbers that OpenAQ gives them.
type locations struct {
	byID    map[int64]*location
	sensors map[int64]sensorAt
}

type sensorAt struct {
	location  *location
	parameter quantity
}

// add adds the locations of a page. It skips entries without sensors or without a name.
func (p *locations) add(all []location) {
	if p.byID == nil {
		p.byID, p.sensors = make(map[int64]*location), make(map[int64]sensorAt)
	}
	for i := range all {
		l := &all[i]
		if len(l.Sensors) == 0 || l.Name == "" {
			continue
		}
		p.byID[l.ID] = l
		for _, s := range l.Sensors {
			p.sensors[s.ID] = sensorAt{l, s.Parameter}
		}
	}
}

// maxLocations is the largest number of files with locations that are read for one data file. maxLocationBytes limits
// the size of each. A page of 1,000 locations has about 2 MB.
const (
	maxLocations     = 200
	maxLocationBytes = 8 << 20
)

// beside reads the saved replies of /v3/locations in the folder of a data file: the JSON files whose names begin with
// "location". It skips a file that is not such a reply, and returns an error for more than maxLocations files.
func (p *locations) beside(path string) error {
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
		if read++; read > maxLocations {
			return ingest.BadReplyf("more than %d saved replies with locations lie beside the file", maxLocations)
		}
		if all, ok := readLocations(filepath.Join(filepath.Dir(path), entry.Name())); ok {
			p.add(all)
		}
	}
	return nil
}

func readLocations(path string) ([]location, bool) {
	in, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer in.Close()
	text, err := table.Decode(in)
	if err != nil {
		return nil, false
	}
	var page struct {
		Results []location `json:"results"`
	}
	if json.NewDecoder(io.LimitReader(text, maxLocationBytes)).Decode(&page) != nil {
		return nil, false
	}
	return page.Results, true
}

// convert converts a value to the unit that Vayu uses for the parameter.
//
// CO in ppb below 30 is read as mg/m³. Since February 2025 OpenAQ labels CPCB's CO as ppb, but passes on CPCB's values
// of 0.3 to 1.2 mg/m³ unchanged. The two units cannot be confused: clean air has at least 40 ppb, and Indian stations
// report less than 30 mg/m³. CPCB's NO2 and SO2 may have wrong labels, too. Their values do not reveal the unit, so
// convert uses the labels.
func convert(p parameter.Parameter, v float64, unit string) (float64, bool) {
	if p == parameter.CO && strings.EqualFold(strings.TrimSpace(unit), "ppb") && v < 30 {
		return v, true
	}
	return p.Convert(v, unit)
}
