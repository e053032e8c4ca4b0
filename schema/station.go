package schema

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

// StationKind tells a reference-grade analyser from a low-cost sensor, and
// both from a file that gives one figure for a whole city.
type StationKind uint8

const (
	// Reference is a regulatory continuous monitoring station.
	Reference StationKind = 1 + iota
	// Sensor is a low-cost sensor.
	Sensor
	// CityMean is a series that its source has already averaged over a city.
	CityMean
)

// String returns the identifier of the Enum8 column in ClickHouse.
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

// StationKinds is every kind of station in the order of its constants.
var StationKinds = [...]StationKind{Reference, Sensor, CityMean}

// ParseCityKinds reads which kinds of stations count for a city: reference, as CPCB
// computes it, or reference and sensor. Series averaged over a city stand in where
// none of them has an AQI and cannot be named.
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

// Station is a place where air is measured. Latitude and Longitude are WGS 84
// degrees and both 0 when unknown. City and State are as normalised by
// [CleanPlace] and [CleanState]; the gazetteer decides what people may call them.
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
	// PositionSource is the source that gave the position; empty if it is not known.
	PositionSource string
	// ByPosition says that the position decided City and State, not the names.
	ByPosition bool
	// SameAs is the id of the station that is the same physical station in a network
	// of higher priority; empty for none. The two count once in a city.
	SameAs string
}

// Located reports whether the station's position is known.
func (s *Station) Located() bool { return s.Latitude != 0 || s.Longitude != 0 }

// Network is the network that the station belongs to: the first part of its id.
func (s *Station) Network() string { return NetworkOf(s.ID) }

// NetworkOf returns the network of a station's id.
func NetworkOf(id string) string {
	network, _, _ := strings.Cut(id, "-")
	return network
}

// networkPriorities ranks networks: of several ids of one physical station the one
// of the highest priority counts. CPCB's own id comes first, because CPCB runs the
// analyser. Networks with stations of their own come next. Collections that copy
// the data of others, later and in other units, come last.
var networkPriorities = map[string]uint8{"cpcb": 30, "openaq": 10, "waqi": 10, "citymean": 5}

// NetworkPriority returns the priority of a network, 20 for one that is not listed.
func NetworkPriority(network string) uint8 {
	if p, ok := networkPriorities[network]; ok {
		return p
	}
	return 20
}

// StationID derives the identity of a station from its network and its name,
// so that one analyser keeps one identity in whichever file or feed it is met:
// "Anand Vihar, Delhi - DPCC" is "cpcb-anand-vihar-delhi-dpcc" in CPCB's feed,
// on data.gov.in, in a CAAQM export and in OpenAQ.
func StationID(network, name string) string { return network + "-" + Slug(name) }

// Slug folds a name to lower-case ASCII letters, digits and single hyphens.
// Accents are removed; letters outside ASCII that have no base letter are kept.
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

// ascii reports whether there is nothing to fold: nearly all names are plain.
func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// CleanPlace trims a place's name, turns underscores into blanks and folds
// runs of white space.
func CleanPlace(s string) string {
	return strings.Join(strings.Fields(strings.ReplaceAll(s, "_", " ")), " ")
}

// stateNames corrects spellings seen in CPCB's feeds to the names of the
// Constitution's First Schedule.
var stateNames = map[string]string{
	"tamilnadu": "Tamil Nadu", "andhrapradesh": "Andhra Pradesh", "arunachalpradesh": "Arunachal Pradesh",
	"himachalpradesh": "Himachal Pradesh", "madhyapradesh": "Madhya Pradesh", "uttarpradesh": "Uttar Pradesh",
	"westbengal": "West Bengal", "jammuandkashmir": "Jammu and Kashmir", "jammu&kashmir": "Jammu and Kashmir",
	"andamanandnicobar": "Andaman and Nicobar Islands", "andamanandnicobarislands": "Andaman and Nicobar Islands",
	"orissa": "Odisha", "pondicherry": "Puducherry", "uttaranchal": "Uttarakhand", "nctofdelhi": "Delhi",
	"chattisgarh": "Chhattisgarh", "newdelhi": "Delhi",
}

// CleanState is [CleanPlace] plus the spellings of states that CPCB writes in
// several ways.
func CleanState(s string) string {
	s = CleanPlace(s)
	if name, ok := stateNames[strings.ToLower(strings.ReplaceAll(s, " ", ""))]; ok {
		return name
	}
	return s
}
