package ingest

import (
	"cmp"

	"vayu/schema"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// movedKilometres is how far a station may be from where it was: networks
// correct coordinates by streets, while a jump of more than 5 km is another
// place under an old name or a slip of a digit.
const movedKilometres = 5

// officialNetwork is the network of CPCB and the states' boards.
const officialNetwork = "cpcb"

// fileSource is the name of the source of imported files.
const fileSource = "import"

// positionRank ranks the sources of positions; the better one wins. CPCB's own feed
// comes first, because CPCB places the stations. Every live source, data.gov.in
// among them, comes next. Files come last: some are public lists whose positions
// were geocoded from names, tens of kilometres off, several stations on one point.
// Of positions from before the source was stored nothing better is known.
func positionRank(source string) int {
	switch source {
	case "cpcb":
		return 3
	case fileSource, "":
		return 1
	}
	return 2
}

// officialNames reports whether the names that a network gives decide a station's
// city whatever its position. See [gazetteer.Locate].
func officialNames(network string) bool {
	return network == officialNetwork || network == "simulator" || network == "citymean"
}

// mergeStation returns what is known of a station after one more description.
// Attributes come from whichever description has the newer readings, and what
// that one leaves empty from the other. The position comes from the better source,
// see positionRank. jumped says that the described position was refused because it
// is far from the known one and its source is no better.
func mergeStation(known, described schema.Station) (merged schema.Station, jumped bool) {
	newer, older := described, known
	if described.LastSeen.Before(known.LastSeen) {
		newer, older = known, described
	}
	city, state := namesOf(newer, older)
	merged = schema.Station{
		ID:          known.ID,
		Source:      cmp.Or(newer.Source, older.Source),
		Name:        cmp.Or(newer.Name, older.Name),
		City:        city,
		State:       state,
		Kind:        cmp.Or(newer.Kind, older.Kind),
		Attribution: cmp.Or(newer.Attribution, older.Attribution),
		Licence:     cmp.Or(newer.Licence, older.Licence),
		FirstSeen:   known.FirstSeen,
		LastSeen:    newer.LastSeen,
		SameAs:      known.SameAs,
	}
	if described.FirstSeen.Before(known.FirstSeen) {
		merged.FirstSeen = described.FirstSeen
	}
	from, jumped := positionOf(known, described, newer)
	merged.Latitude, merged.Longitude, merged.PositionSource = from.Latitude, from.Longitude, from.PositionSource
	return merged, jumped
}

// positionOf returns the description whose position counts.
func positionOf(known, described, newer schema.Station) (from schema.Station, jumped bool) {
	if !described.Located() {
		return known, false
	}
	if !known.Located() {
		return described, false
	}
	was, is := positionRank(known.PositionSource), positionRank(described.PositionSource)
	far := geo.Distance(point(&known), point(&described)) > movedKilometres
	switch {
	case is > was:
		return described, false
	case is < was:
		return known, far
	case far:
		return known, true
	}
	return newer, false
}

// namesOf returns the names of a station's city and state. They belong together:
// several states have a city of one name, and a name without its state may be
// spelt in a way that cannot be recognised. So the newer description gives both,
// unless it lacks one of them and the older does not. What a position decided is
// no name.
func namesOf(newer, older schema.Station) (city, state string) {
	for _, s := range []*schema.Station{&newer, &older} {
		if s.ByPosition {
			s.City, s.State = "", ""
		}
	}
	if older.State != "" && (newer.State == "" || newer.City == "" && older.City != "") {
		newer, older = older, newer
	}
	return cmp.Or(newer.City, older.City), cmp.Or(newer.State, older.State)
}

// located is what the place of a station was computed from, and the result.
type located struct {
	city, state string
	at          geo.Point
	place       gazetteer.Place
}

// locate sets the city and state of a station from its names and position.
func (b *book) locate(s *schema.Station) {
	last := b.located[s.ID]
	if last.city != s.City || last.state != s.State || last.at != point(s) || last == (located{}) {
		last = located{city: s.City, state: s.State, at: point(s)}
		last.place = gazetteer.Locate(s.City, s.State, last.at, officialNames(s.Network()))
		b.located[s.ID] = last
	}
	s.City, s.State, s.ByPosition = last.place.City, last.place.State, last.place.ByPosition
}
