// Package station merges what the sources say about stations. It detects that two sources have the same station under
// different names.
package station

import (
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/xrash/smetrics"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// title has the normalised parts of a station's name, so that different spellings are equal. "R K Puram, New Delhi -
// DPCC" and "DPCC RK Puram" both have the place "rkpuram" and the agency "dpcc".
type title struct {
	place  string // place without blanks, punctuation, city and agency
	bare   string // place without a leading agency
	agency string // empty if the name has none
	old    string // earlier abbreviation of the agency, if the name has it
	former string // place of an earlier name, "(Formerly known as …)"
}

// agencies has the boards and institutes whose abbreviations occur in station names, at the end or at the beginning. A
// key is an abbreviation. The value is the present abbreviation of a renamed board, or "" for any other.
var agencies = map[string]string{
	"ambujacements": "", "anpcc": "", "apcb": "pcba", "appcb": "", "apspcb": "", "bmc": "", "bspcb": "", "cecb": "", "cpcb": "",
	"cpcc": "", "dmc": "", "dpcc": "", "gpcb": "", "hppcb": "", "hspcb": "", "iitm": "", "imc": "", "imd": "", "jkpcc": "",
	"jkspcb": "jkpcc", "jmc": "", "jspcb": "", "keralapcb": "", "kspcb": "", "manipurpcb": "", "meghalayapcb": "",
	"mizorampcb": "", "mpcb": "", "mppcb": "", "npcb": "", "ospcb": "", "pcba": "", "ppcb": "", "ppcc": "", "rspcb": "",
	"smc": "", "sspcb": "", "tgpcb": "", "tnpcb": "", "tripuraspcb": "", "tspcb": "tgpcb", "ukpcb": "", "uppcb": "", "wbpcb": "",
}

// transferred maps an institute to the institute that took over some of its stations. Both institutes may have stations
// on the same road. Two such stations are therefore one station only if they lie within sameSpot of each other.
var transferred = map[string]string{"imd": "iitm"}

// setAgency sets the agency that the words `tokens` name, and reports whether it is known. If `tokens` is the old
// abbreviation of a renamed agency, t.agency becomes the present abbreviation, and t.old the old one.
func (t *title) setAgency(tokens []string) bool {
	key := strings.Join(tokens, "")
	present, ok := agencies[key]
	t.agency, t.old = key, ""
	if present != "" {
		t.agency, t.old = present, key
	}
	return ok
}

// knownAgency reports whether `tokens`, words of a station's name, name a known agency.
func knownAgency(tokens []string) bool {
	_, ok := agencies[strings.Join(tokens, "")]
	return ok
}

const formerly = "formerly known as"

// parseTitle splits a station's name into its parts. `city` is the station's city, which the name may repeat.
func parseTitle(name, city string) title {
	var t title
	lower := strings.ToLower(air.CleanPlace(name))
	if i := strings.Index(lower, formerly); i >= 0 {
		old := parseTitle(strings.Trim(lower[i+len(formerly):], " )("), city)
		t.former = old.place
		lower = strings.TrimRight(lower[:i], " (")
	}
	body := lower
	if i := strings.LastIndex(lower, " - "); i >= 0 {
		body = lower[:i]
		t.setAgency(splitWords(lower[i+3:]))
	} else if i := strings.LastIndexByte(lower, '-'); i >= 0 && knownAgency(splitWords(lower[i+1:])) {
		body = lower[:i]
		t.setAgency(splitWords(lower[i+1:]))
	}
	if i := strings.LastIndexByte(body, ','); i >= 0 && matchesCity(body[i+1:], city) {
		body = body[:i]
	}
	tokens, leading := splitWords(body), 0
	for _, n := range []int{2, 1} { // an agency has one or two words, at the beginning or the end
		if len(tokens) <= n {
			continue
		}
		switch {
		case knownAgency(tokens[:n]) && t.agency != "":
			leading = n
		case knownAgency(tokens[:n]):
			t.setAgency(tokens[:n])
			tokens = tokens[n:]
		case t.agency == "" && knownAgency(tokens[len(tokens)-n:]):
			t.setAgency(tokens[len(tokens)-n:])
			tokens = tokens[:len(tokens)-n]
		}
	}
	if len(tokens) == 0 {
		return t
	}
	for n := min(3, len(tokens)-1); n >= 1; n-- {
		if last := tokens[len(tokens)-n:]; city != "" && matchesCity(strings.Join(last, " "), city) {
			tokens = tokens[:len(tokens)-n]
			break
		}
	}
	t.place, t.bare = strings.Join(tokens, ""), strings.Join(tokens[min(leading, len(tokens)-1):], "")
	return t
}

// matchesCity reports whether a text is a name of the city, begins with such a name ("Mandikhera(Nuh)"), or is a
// misspelling of it.
func matchesCity(text, city string) bool {
	text = strings.TrimSpace(text)
	if i := strings.IndexByte(text, '('); i > 0 {
		text = text[:i]
	}
	if canonical, _ := gazetteer.Canonical(text, ""); strings.EqualFold(canonical, city) {
		return true
	}
	return closePlaces(gazetteer.Key(text), gazetteer.Key(city))
}

// splitWords splits a text at all characters except letters, digits and combining marks.
func splitWords(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) })
}

// Limits of the distance between two descriptions of one station. Feeds and files may state positions that differ by
// kilometres. If agency, city and place are equal, the limit is therefore movedKilometres. If the spelling of the place
// differs or an agency is missing, the limit is sameSpot. Among 603 stations, the nearest two with the same agency are
// 1.0 km apart, so that sameSpot keeps them apart.
const (
	sameSpot    = 0.25 // km
	twinSpot    = 0.1  // km, for stations of two networks
	closeLength = 8    // letters; a place of at least this length may have one wrong letter
)

// closePlaces reports whether two places are equal, or spellings of one place. A place is the part of a station's name
// without city and agency. Spellings of one place have at least closeLength letters and the same digits, and differ by
// at most one letter.
func closePlaces(a, b string) bool {
	if a == b {
		return a != ""
	}
	if min(len(a), len(b)) < closeLength || digits(a) != digits(b) {
		return false
	}
	return smetrics.WagnerFischer(a, b, 1, 1, 1) <= 1
}

func digits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// The reasons of automatic aliases.
const (
	bySpelling = "spelling" // the names are spellings of one name
	byNewName  = "renamed"  // the station or its agency was renamed
	byOldName  = "earlier"  // the description has an earlier name of the known station
)

// sameStation reports whether the description `a` means the known station `b` under another name, and returns the
// reason. In case of doubt it returns false: place, city and agency must match, and known positions must be near.
func sameStation(a, b *air.Station) (reason string, same bool) {
	if a.Kind != air.Reference || b.Kind != air.Reference || a.City != b.City || a.State != b.State {
		return "", false
	}
	ta, tb := parseTitle(a.Name, a.City), parseTitle(b.Name, b.City)
	if ta.place == "" || tb.place == "" {
		return "", false
	}
	reason = bySpelling
	switch {
	case ta.place != tb.place && ta.place == tb.former:
		reason = byOldName
	case ta.former != "" && tb.former == "", ta.agency != "" && tb.agency != "" && cmp.Or(ta.old, ta.agency) != cmp.Or(tb.old, tb.agency):
		reason = byNewName
	}
	located, apart := a.Located() && b.Located(), geo.Distance(point(a), point(b))
	if ta.agency != "" && ta.agency == tb.agency && (ta.place == tb.place || ta.former == tb.place || ta.place == tb.former) {
		return reason, !located || apart <= movedKilometres
	}
	agreed := ta.agency == "" || tb.agency == "" || cmp.Or(transferred[ta.agency], ta.agency) == cmp.Or(transferred[tb.agency], tb.agency)
	return reason, agreed && located && apart <= sameSpot && closePlaces(ta.bare, tb.bare)
}

// samePhysicalStation reports whether two stations of different networks are one physical station. They must be of one
// kind, lie within twinSpot, and have similar names. If both have an agency, it must be the same. For reference
// stations, equal positions are sufficient if both coordinates have more than two decimals. City means never match.
// Stations of accounts never match either. Otherwise an account could replace a station that it does not own.
func samePhysicalStation(a, b *air.Station) bool {
	if a.Own() || b.Own() || a.Network() == b.Network() || a.Kind != b.Kind || a.Kind == air.CityMean || !a.Located() || !b.Located() {
		return false
	}
	if point(a) == point(b) && a.Kind == air.Reference && precise(a.Latitude) && precise(a.Longitude) {
		return true
	}
	if geo.Distance(point(a), point(b)) > twinSpot {
		return false
	}
	ta, tb := parseTitle(a.Name, a.City), parseTitle(b.Name, b.City)
	return (ta.agency == "" || tb.agency == "" || ta.agency == tb.agency) && closePlaces(ta.bare, tb.bare)
}

// precise reports whether a coordinate has more than two decimals.
func precise(degrees float64) bool {
	hundredths := degrees * 100
	return hundredths-float64(int(hundredths)) > 1e-6 && float64(int(hundredths)+1)-hundredths > 1e-6
}

func point(s *air.Station) geo.Point {
	return geo.Point{Latitude: s.Latitude, Longitude: s.Longitude}
}

// aliasable are the networks whose imported files have CPCB's stations under other names. Readings from these files may
// be stored under the id of a CPCB station. Readings of other networks, and of live sources, keep the ids of their own
// stations; see [samePhysicalStation].
var aliasable = []string{"openaq"}

// mayAlias reports whether readings of the station `alias` may be stored under the id of the station `into`.
func mayAlias(alias *air.Station, into *air.Station) bool {
	if alias.Network() == into.Network() {
		return true
	}
	return alias.Source == fileSource && into.Network() == officialNetwork && slices.Contains(aliasable, alias.Network())
}
