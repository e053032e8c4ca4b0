package station

import (
	"cmp"

	"vayu/schema/air"
	"vayu/schema/gazetteer"
	"vayu/schema/geo"
)

// movedKilometres is the largest accepted change of a station's position by a source of equal rank, in kilometres.
// Networks correct coordinates by a few streets. A change of more than 5 km means another place or a wrong digit.
const movedKilometres = 5

// officialNetwork is the network of CPCB and the states' boards.
const officialNetwork = "cpcb"

// fileSource is the name of the source of imported files.
const fileSource = "import"

// positionRank ranks the sources of positions. The position of the source with the higher rank is used. CPCB's own feed
// is first, because CPCB places the stations. Other live sources, such as data.gov.in, are second. Files are last,
// because some have positions geocoded from names, which are wrong by tens of kilometres. A position without a source
// ranks like a file.
func positionRank(source string) int {
	switch source {
	case "cpcb":
		return 3
	case fileSource, "":
		return 1
	}
	return 2
}

// officialNames reports whether a network's names of city and state are correct, even if they contradict the positions
// of its stations. See [gazetteer.Locate].
func officialNames(network string) bool {
	return network == officialNetwork || network == "simulator" || network == "citymean"
}

// mergeStation merges a description into a known station. For each attribute, the description with the newer readings
// comes first, and the other one fills gaps. The position comes from the source with the higher positionRank. At equal
// ranks it comes from the newer description. `jumped` is true if the described position was refused as too far away.
func mergeStation(known, described air.Station) (merged air.Station, jumped bool) {
	newer, older := described, known
	if described.LastSeen.Before(known.LastSeen) {
		newer, older = known, described
	}
	city, state := namesOf(newer, older)
	merged = air.Station{
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

// positionOf returns the description whose position mergeStation uses. `jumped` means the same as in mergeStation.
func positionOf(known, described, newer air.Station) (from air.Station, jumped bool) {
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

// namesOf returns the names of a station's city and state. If possible, both come from one description, because cities
// in several states may have the same name. The newer description normally comes first. The older one comes first if
// only it has a state, or if both have a state and only it has a city. The second description fills a missing name.
// Names that were derived from a position are ignored.
func namesOf(newer, older air.Station) (city, state string) {
	for _, s := range []*air.Station{&newer, &older} {
		if s.ByPosition {
			s.City, s.State = "", ""
		}
	}
	if older.State != "" && (newer.State == "" || newer.City == "" && older.City != "") {
		newer, older = older, newer
	}
	return cmp.Or(newer.City, older.City), cmp.Or(newer.State, older.State)
}

// Placement is the place of a station in the gazetteer, with the names and the position from which it was computed.
type Placement struct {
	city, state string
	at          geo.Point
	place       gazetteer.Place
}

// locate sets the city and state of a station from its names and position. It caches the result in b.Placements.
func (b *Cache) locate(s *air.Station) {
	last := b.Placements[s.ID]
	if last.city != s.City || last.state != s.State || last.at != point(s) || last == (Placement{}) {
		last = Placement{city: s.City, state: s.State, at: point(s)}
		last.place = gazetteer.Locate(s.City, s.State, last.at, officialNames(s.Network()))
		b.Placements[s.ID] = last
	}
	s.City, s.State, s.ByPosition = last.place.City, last.place.State, last.place.ByPosition
}
