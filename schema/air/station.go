package air

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// StationKind distinguishes reference-grade analysers, low-cost sensors, and series with one value for a whole city.
type StationKind uint8

const (
	// Reference is a regulatory station with continuous monitoring by analysers.
	Reference StationKind = 1 + iota
	// Sensor is a low-cost sensor.
	Sensor
	// CityMean is a series that its source has averaged over a city.
	CityMean
)

// String returns the identifier of k in the Enum8 column in ClickHouse.
func (k StationKind) String() string {
	switch k {
	case Reference:
		return "reference"
	case Sensor:
		return "sensor"
	case CityMean:
		return "city_mean"
	}
	return "none"
}

// StationKinds lists all kinds of stations in the order of their constants.
var StationKinds = [...]StationKind{Reference, Sensor, CityMean}

// ParseStationKind parses the identifier of a kind. It returns false for any other text.
func ParseStationKind(text string) (StationKind, bool) {
	for _, kind := range StationKinds {
		if kind.String() == text {
			return kind, true
		}
	}
	return 0, false
}

// ParseCityKinds parses the kinds of stations from which a city's AQI is computed. The kinds are reference stations,
// as in CPCB's AQI, or reference stations and sensors. [CityMean] is an error, because a city mean is used only where
// no other kind has values.
func ParseCityKinds(names []string) ([]StationKind, error) {
	var kinds []StationKind
	for _, name := range names {
		switch kind := strings.TrimSpace(name); kind {
		case Reference.String():
			kinds = append(kinds, Reference)
		case Sensor.String():
			kinds = append(kinds, Sensor)
		default:
			return nil, fmt.Errorf("%q is neither reference nor sensor", kind)
		}
	}
	if !slices.Contains(kinds, Reference) {
		return nil, errors.New("reference must be among them")
	}
	slices.Sort(kinds)
	return slices.Compact(kinds), nil
}

// Station is a place where air is measured. Latitude and Longitude are WGS 84 degrees, both 0 if unknown. City and
// State are normalised by [CleanPlace] and [CleanState]. Package gazetteer maps other names of a city to City.
type Station struct {
	ID          string
	Source      string
	Name        string
	City        string
	State       string
	Latitude    float64
	Longitude   float64
	Kind        StationKind
	Attribution string
	Licence     string
	FirstSeen   time.Time
	LastSeen    time.Time
	// PositionSource is the source of the position, or empty if unknown.
	PositionSource string
	// ByPosition is true if City and State were derived from the position, not from names.
	ByPosition bool
	// SameAs is the id of another station that is the same physical station, or empty if there is none. In each hour,
	// a city's AQI counts only one of the two: preferably one with an AQI, then one of higher [NetworkPriority].
	SameAs string
}

// Located reports whether the station's position is known.
func (s *Station) Located() bool { return s.Latitude != 0 || s.Longitude != 0 }

// StationID returns a station's id, which is derived from its network and name. A station therefore has the same id in
// all files and feeds. "Anand Vihar, Delhi - DPCC" is "cpcb-anand-vihar-delhi-dpcc" in CPCB's feed, on data.gov.in, in
// CAAQM exports and in OpenAQ.
func StationID(network, name string) string { return network + "-" + Slug(name) }

// Slug converts a name to lower-case ASCII letters, digits and single hyphens, without
// accents. Letters of other scripts, which have no ASCII base letter, stay unchanged.
func Slug(name string) string {
	folded := name
	if !ascii(name) {
		decomposed, _, err := transform.String(transform.Chain(norm.NFKD, runes.Remove(runes.In(unicode.Mn)), norm.NFC), name)
		if err == nil {
			folded = decomposed
		}
	}
	var b strings.Builder
	gap := false
	for _, r := range strings.ToLower(folded) {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			if gap && b.Len() > 0 {
				b.WriteByte('-')
			}
			gap = false
			b.WriteRune(r)
			continue
		}
		gap = true
	}
	return b.String()
}

// ascii reports whether s is ASCII. [Slug] need not decompose the characters of an ASCII text.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// CleanPlace trims the name of a place, turns underscores into blanks, and collapses white space.
func CleanPlace(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "_", " ")), " ")
}

// stateNames maps spellings of states in CPCB's feeds to the names in the First Schedule of the Constitution of India.
var stateNames = map[string]string{
	"tamilnadu": "Tamil Nadu", "andhrapradesh": "Andhra Pradesh", "arunachalpradesh": "Arunachal Pradesh",
	"himachalpradesh": "Himachal Pradesh", "madhyapradesh": "Madhya Pradesh", "uttarpradesh": "Uttar Pradesh",
	"westbengal": "West Bengal", "jammuandkashmir": "Jammu and Kashmir", "jammu&kashmir": "Jammu and Kashmir",
	"andamanandnicobar": "Andaman and Nicobar Islands", "andamanandnicobarislands": "Andaman and Nicobar Islands",
	"orissa": "Odisha", "pondicherry": "Puducherry", "uttaranchal": "Uttarakhand", "nctofdelhi": "Delhi",
	"chattisgarh": "Chhattisgarh", "newdelhi": "Delhi",
}

// CleanState cleans the name of a state as [CleanPlace] does. It also corrects CPCB's spellings.
func CleanState(s string) string {
	s = CleanPlace(s)
	if name, ok := stateNames[strings.ToLower(strings.ReplaceAll(s, " ", ""))]; ok {
		return name
	}
	return s
}

// OtherStateNames returns old names and other spellings of a state, in lower case and without blanks.
func OtherStateNames(state string) []string {
	var names []string
	for other, name := range stateNames {
		if name == state {
			names = append(names, other)
		}
	}
	slices.Sort(names)
	return names
}
