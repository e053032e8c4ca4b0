package gazetteer

import "vayu/schema/geo"

// Place is the city and state of a station. City is empty for a station in no
// known city.
type Place struct {
	City, State string
	// ByPosition reports that City and State follow from the position, because the
	// names are missing or contradict it.
	ByPosition bool
}

// nameSlack is how far, in km, a station may lie outside the extent of the city in
// its name. Some networks name a station after the next large city. Of 594
// stations with a position in data.gov.in, 591 lie within their city's extent. Two
// more are within 12 km. The last is 36 km off, in no city, and its name is right.
const nameSlack = 15

// Locate returns the place of a station from the names and position of its
// sources.
//
//   - Without a position the names decide.
//   - A name from CPCB (official) stays. In the real files no such name contradicts
//     the extent of the position, while geocoded lists place stations in other
//     cities. A name outside the table stays too, because the network grows.
//   - A position within [nameSlack] of the named city's extent confirms the name.
//   - A position in the extent of another city decides.
//   - A position in no extent gives the state, and the name the city. If the named
//     city is a known one of another state, the position is wrong.
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

// inTable reports whether the table has a city with the canonical name and state.
func inTable(name, state string) bool {
	t := load()
	for _, i := range t.byName[Key(name)] {
		if t.cities[i].Name == name && t.cities[i].State == state {
			return true
		}
	}
	return false
}
