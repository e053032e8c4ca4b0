package gazetteer

import "vayu/schema/geo"

// Place is the city and state of a station. City is "" if the station is not in a known city.
type Place struct {
	City, State string
	// ByPosition is true if City and State were derived from the position, because the names are missing or contradict
	// the position.
	ByPosition bool
}

// nameSlack is the largest distance, in km, of a station from the extent of the city in its name. Some networks name a
// station after the nearest large city. data.gov.in has 594 stations with a position. Of these, 591 are within the
// extent of their city, and two more are within 12 km of it. The last one is 36 km away, in no other city, and its name
// is correct.
const nameSlack = 15

// Locate returns the place of a station. `city` and `state` are the names that the station's source states, `official`
// says whether they are official, and `p` is the position. The first rule that applies determines the place:
//
//   - Without a position in an Indian state, the names are used.
//   - If the names are official and `city` is not empty, the names are used. In CPCB's
//     files no name contradicts the position, while lists with geocoded positions
//     place stations in other cities. The table of cities may lack the city, because
//     CPCB's network grows.
//   - If the position is within [nameSlack] of the named city's extent, the names
//     are used.
//   - If the position is in the extent of another city, that city is used. Exception:
//     the table has the named city, but the city's extent is unknown.
//   - If the table has the named city, the names are used.
//   - Otherwise the city is the named one, and the state is that of the position.
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

// inTable reports whether the table of cities has a city with this canonical name and state.
func inTable(name, state string) bool {
	t := load()
	for _, i := range t.byName[Key(name)] {
		if t.cities[i].Name == name && t.cities[i].State == state {
			return true
		}
	}
	return false
}
