package gazetteer

import "vayu/schema/geo"

// Place is the city and state that a station counts for. City is empty for a
// station in no known city.
type Place struct {
	City, State string
	// ByPosition says that the position decided: the station's names were
	// missing, or they contradict the position.
	ByPosition bool
}

// nameSlack is how far, in km, beyond the extent of the city that it is named
// after a station may lie. Some networks name a station after the next large
// city. Of the 603 stations in downloads of data.gov.in, 594 have a position: 591
// lie within their city's extent and 2 more within 12 km of it. The last one is
// placed 36 km off, in no city, and its name is right.
const nameSlack = 15

// Locate returns the place of a station from the names and the position that its
// sources give.
//
//   - Without a position the names decide.
//   - A name that CPCB gives (official) stays. In the real files no such name
//     contradicts the extent that the position lies in, while geocoded lists place
//     stations in other cities. It also stays if the table does not have it:
//     the network grows by cities that the table lacks.
//   - A position within [nameSlack] of the named city's extent confirms the name.
//   - A position in the extent of another city decides.
//   - A position in no city's extent gives the state, and the name the city. If
//     the named city is a known one of another state, the position is wrong.
func Locate(city, state string, p geo.Point, official bool) Place {
	name, nameState := Canonical(city, state)
	byName := Place{City: name, State: nameState}
	if !p.Known() || !geo.InIndia(p.Latitude, p.Longitude) {
		return byName
	}
	at, ok := State(p)
	if !ok {
		return byName
	}
	if nameState == "" && name != "" { // a homonym, or a name that the table lacks
		if _, sure := Canonical(name, ""); sure == "" {
			name, nameState = Canonical(name, at)
			byName = Place{City: name, State: nameState}
		}
	}
	if official && name != "" {
		return byName
	}
	a := atlasOf()
	i, extended := a.byName[[2]string{name, nameState}]
	if extended && geo.Distance(p, a.all[i].centre) <= a.all[i].radius+nameSlack {
		return byName
	}
	if here, found := a.at(p, at); found && (extended || !inTable(name, nameState)) {
		return Place{City: here.city, State: here.state, ByPosition: true}
	}
	switch {
	case name == "":
		return Place{State: at, ByPosition: true}
	case inTable(name, nameState):
		return byName
	}
	return Place{City: name, State: at}
}

// inTable reports whether a canonical name and state are those of a city of the
// table.
func inTable(name, state string) bool {
	t := load()
	for _, i := range t.byName[Key(name)] {
		if t.cities[i].Name == name && t.cities[i].State == state {
			return true
		}
	}
	return false
}
