// Package gazetteer has the names of Indian cities: the canonical name and state of each city, and its other names. It
// also finds the city and the state of a position. The data are in CSV files and in states.txt.
package gazetteer

import (
	_ "embed" // cities.csv
	"slices"
	"strings"
	"sync"

	"vayu/schema/air"
)

// City is a city with all its names. Name and State are the canonical ones. AlsoIn is the second state of a city on a
// border. For example, CPCB's bulletins count Byrnihat, which is in Assam and Meghalaya, as one city.
type City struct {
	Name, State string
	Aliases     []string
	AlsoIn      string
}

//go:embed cities.csv
var citiesCSV string

type table struct {
	cities []City
	byName map[string][]int // key of a name, alone or with the state -> indexes in `cities`
}

var load = sync.OnceValue(func() table {
	t := table{byName: make(map[string][]int)}
	indic := indicNames()
	for line := range strings.Lines(citiesCSV) {
		line = strings.TrimSpace(line)
		fields := strings.SplitN(line, ",", 4)
		if strings.HasPrefix(line, "#") || len(fields) < 2 {
			continue
		}
		c := City{Name: fields[0], State: fields[1]}
		if len(fields) >= 3 && fields[2] != "" {
			c.Aliases = strings.Split(fields[2], "|")
		}
		if len(fields) == 4 {
			c.AlsoIn = fields[3]
		}
		c.Aliases = append(c.Aliases, indic[[2]string{c.Name, c.State}]...)
		t.cities = append(t.cities, c)
		i := len(t.cities) - 1
		for _, key := range c.Keys() {
			if !slices.Contains(t.byName[key], i) {
				t.byName[key] = append(t.byName[key], i)
			}
		}
	}
	return t
})

// Keys returns the keys of all names of the city (see [AppendKey]). For each name, it
// returns the key of the name alone and the keys of the name with a state.
func (c *City) Keys() []string {
	keys := make([]string, 0, 2+2*len(c.Aliases))
	for _, name := range append([]string{c.Name}, c.Aliases...) {
		keys = append(keys, Key(name))
		if c.State != "" {
			keys = append(keys, Key(name+c.State))
		}
		if c.AlsoIn != "" {
			keys = append(keys, Key(name+c.AlsoIn))
		}
	}
	return keys
}

// lies reports whether the city is at least partly in a state.
func (c *City) lies(state string) bool {
	return strings.EqualFold(state, c.State) || c.AlsoIn != "" && strings.EqualFold(state, c.AlsoIn)
}

// alsoIn reports whether the city with this canonical name and state is at least partly in the state `other`.
func alsoIn(name, state, other string) bool {
	t := load()
	for _, i := range t.byName[Key(name)] {
		if c := &t.cities[i]; c.Name == name && c.State == state {
			return c.lies(other)
		}
	}
	return false
}

// Lookup returns all cities that have a name. The slice is empty if there are none.
func Lookup(name string) []City {
	t := load()
	found := t.byName[Key(name)]
	cities := make([]City, len(found))
	for i, n := range found {
		cities[i] = t.cities[n]
	}
	return cities
}

// Names returns all names of the city with this canonical name and state, the canonical one first. For an unknown city
// it returns only `name`.
func Names(name, state string) []string {
	for _, c := range Lookup(name) {
		if c.Name == name && c.State == state {
			return append([]string{name}, c.Aliases...)
		}
	}
	return []string{name}
}

// Homonymous reports whether several cities, in different states, have the name.
func Homonymous(name string) bool {
	return len(load().byName[Key(name)]) > 1
}

// Canonical returns the canonical name and state of a city. `state` may be "" if only one city has the name. For
// example, Canonical returns "Gurugram" and "Haryana" for "Gurgaon" and "". If no city or several cities match the name
// and the state, it only cleans both texts (see [air.CleanPlace] and [air.CleanState]).
func Canonical(city, state string) (name, stateName string) {
	city, state = air.CleanPlace(city), air.CleanState(state)
	t := load()
	found := -1
	for _, i := range t.byName[Key(city)] {
		if state == "" || t.cities[i].lies(state) {
			if found >= 0 {
				return city, state
			}
			found = i
		}
	}
	if found < 0 {
		return city, state
	}
	return t.cities[found].Name, t.cities[found].State
}
