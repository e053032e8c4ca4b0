package mapping

import (
	"cmp"
	"slices"
	"strings"

	"vayu/ingest"
	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/described/record"
	"vayu/internal/config"
	"vayu/internal/config/section"
	"vayu/schema/air"
)

// stationFields defines how the station of a record is read.
type stationFields struct {
	id                             []record.Path
	name, city, state              []record.Path
	latitude, longitude            []record.Path
	licence, attribution           []record.Path
	kindField                      []record.Path
	kinds                          map[string]air.StationKind
	kind                           air.StationKind // kind if kindField is empty or has a value that is not in kinds
	fixed                          air.Station     // values for stations whose records lack them
	fixedLatitude, fixedLongitude  string
	cpcbNames                      string // cpcbNever, cpcbForm or cpcbAlways
	network, ownLicence, ownCredit string
}

// Values of the key `cpcb-names`.
const (
	cpcbNever  = "false"
	cpcbForm   = "true"   // a name in CPCB's form means a station of CPCB's network
	cpcbAlways = "always" // all stations belong to CPCB's network
)

// kindNames maps names in descriptions to kinds of stations.
var kindNames = map[string]air.StationKind{"reference": air.Reference, "sensor": air.Sensor, "city-mean": air.CityMean}

func readStation(s *section.Section, owner Owner) stationFields {
	f := stationFields{
		id: record.ReadPaths(s, "id"), name: record.ReadPaths(s, "name"), city: record.ReadPaths(s, "city"), state: record.ReadPaths(s, "state"),
		latitude: record.ReadPaths(s, "latitude"), longitude: record.ReadPaths(s, "longitude"),
		licence: record.ReadPaths(s, "licence"), attribution: record.ReadPaths(s, "attribution"),
		kindField: record.ReadPaths(s, "kind-field"), kind: kindNames[s.Choice("kind", "sensor", "reference", "sensor", "city-mean")],
		cpcbNames: s.Choice("cpcb-names", cpcbNever, cpcbNever, cpcbForm, cpcbAlways),
		network:   owner.Network, ownLicence: owner.Licence, ownCredit: owner.Attribution,
	}
	kinds := s.Section("kinds")
	if kinds.Present() != (len(f.kindField) > 0) {
		s.Faultf("kinds", "maps the values of kind-field, and kind-field needs it")
	}
	for _, e := range kinds.Entries() {
		kind, known := kindNames[e.Text]
		if !known {
			kinds.FaultAt(e.Line, e.Name, config.UnknownKey(e.Text, []string{"reference", "sensor", "city-mean"}))
		}
		if f.kinds == nil {
			f.kinds = make(map[string]air.StationKind)
		}
		f.kinds[e.Name] = kind
	}
	fixed := s.Section("fixed")
	f.fixed = air.Station{ID: fixed.Text("id"), Name: fixed.Text("name"), City: fixed.Text("city"), State: fixed.Text("state")}
	f.fixedLatitude, f.fixedLongitude = fixed.Text("latitude"), fixed.Text("longitude")
	if _, _, reason := cpcbformat.Position(f.fixedLatitude, f.fixedLongitude); reason != ingest.None {
		fixed.Faultf("latitude", "latitude and longitude must be degrees")
	}
	if (len(f.id) == 0) == (f.fixed.ID == "") {
		s.Faultf("id", "is the path of the station's number or name; fixed.id stands for an API of one station")
	}
	return f
}

// paths returns the paths of all fields of a station.
func (d *stationFields) paths() []record.Path {
	return slices.Concat(d.id, d.name, d.city, d.state, d.latitude, d.longitude, d.licence, d.attribution, d.kindField)
}

// key returns the text that identifies the station of a record, or "" if the record has no such text. If station.id has
// several paths, it joins their texts with hyphens. `seen` is false if the record has none of these fields.
func (d *stationFields) key(f *record.Frame) (key string, seen bool) {
	switch len(d.id) {
	case 0:
		return d.fixed.ID, true
	case 1:
		return f.Text(d.id)
	}
	parts := make([]string, 0, len(d.id))
	for i := range d.id {
		part, found := f.Text(d.id[i : i+1])
		seen = seen || found
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "-"), seen
}

// placed reports whether a record states the position of its station.
func (d *stationFields) placed(f *record.Frame) bool {
	text, _ := f.Text(d.latitude)
	return text != "" && text != "NA"
}

// describe returns the station of a record. It reports an invalid position to b as rejected.
func (d *stationFields) describe(f *record.Frame, key string, b *ingest.Builder) air.Station {
	text := func(paths []record.Path, fallback string) string {
		if t, _ := f.Text(paths); t != "" {
			return strings.Clone(strings.TrimSpace(t))
		}
		return fallback
	}
	latitude, longitude := text(d.latitude, d.fixedLatitude), text(d.longitude, d.fixedLongitude)
	lat, lon, reason := cpcbformat.Position(f.Number(latitude), f.Number(longitude))
	if reason != ingest.None {
		b.RejectPosition("", latitude, longitude)
	}
	name := air.CleanPlace(text(d.name, d.fixed.Name))
	switch d.cpcbNames {
	case cpcbAlways:
		return cpcbformat.Station(cmp.Or(name, key), text(d.city, ""), text(d.state, ""), lat, lon)
	case cpcbForm:
		if _, _, ok := cpcbformat.Split(name); ok {
			return cpcbformat.Station(name, "", "", lat, lon)
		}
	}
	s := air.Station{
		ID: air.StationID(d.network, key), Name: name, City: text(d.city, d.fixed.City), State: text(d.state, d.fixed.State),
		Latitude: lat, Longitude: lon, Kind: d.kind, Licence: text(d.licence, d.ownLicence), Attribution: d.ownCredit,
	}
	if credit := text(d.attribution, ""); credit != "" && !strings.Contains(d.ownCredit, credit) {
		s.Attribution = credit + "; " + d.ownCredit
	}
	if kind, known := d.kinds[text(d.kindField, "")]; known {
		s.Kind = kind
	}
	if s.Name == "" {
		s.Name = key
	}
	if strings.EqualFold(s.City, "India") { // OpenAQ may state the country as the locality
		s.City = ""
	}
	return s
}

// station returns the station of the record f; `key` identifies the station. It describes the station from its first
// record. If that record states no position, it describes the station again from the first record that does.
func (s *Sink) station(f *record.Frame, key string) *station {
	if s.last != nil && key == s.lastKey {
		if s.last.placed || len(s.m.station.latitude) == 0 {
			return s.last
		}
	}
	known := s.stations[key]
	placed := (known == nil || !known.placed) && s.m.station.placed(f)
	if known == nil || placed {
		key = strings.Clone(key)
		described := s.m.station.describe(f, key, s.builder)
		known = &station{described: described, placed: placed, outside: !s.m.area.contains(described.Latitude, described.Longitude)}
		s.stations[key] = known
	}
	s.last, s.lastKey = known, strings.Clone(key)
	return known
}
