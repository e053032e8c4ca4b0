// Package gazetteer knows what Indian cities are called: the canonical name and
// state of each, and the other names in use, kept as data in cities.csv.
package gazetteer

import (
	_ "embed" // cities.csv
	"strings"
	"sync"

	"vayu/schema"
)

// City is one city with everything it may be called. Name and State are
// canonical.
type City struct {
	Name, State string
	Aliases     []string
}

//go:embed cities.csv
var citiesCSV string

type table struct {
	cities []City
	byName map[string][]int // slug of name or alias -> cities
}

var load = sync.OnceValue(func() table {
	t := table{byName: make(map[string][]int)}
	for line := range strings.Lines(citiesCSV) {
		line = strings.TrimSpace(line)
		fields := strings.SplitN(line, ",", 3)
		if strings.HasPrefix(line, "#") || len(fields) < 2 {
			continue
		}
		c := City{Name: fields[0], State: fields[1]}
		if len(fields) == 3 && fields[2] != "" {
			c.Aliases = strings.Split(fields[2], "|")
		}
		t.cities = append(t.cities, c)
		for _, name := range append([]string{c.Name}, c.Aliases...) {
			key := schema.Slug(name)
			t.byName[key] = append(t.byName[key], len(t.cities)-1)
		}
	}
	return t
})

// Cities returns every city of the table. The slice is shared: do not change it.
func Cities() []City { return load().cities }

// Canonical returns the canonical name and state of a city as a source writes
// them: "Gurgaon", "" gives "Gurugram", "Haryana". A name that the table does
// not hold, or one that several states share when the state is not given, is
// only cleaned.
func Canonical(city, state string) (name, stateName string) {
	city, state = schema.CleanPlace(city), schema.CleanState(state)
	t := load()
	found := -1
	for _, i := range t.byName[schema.Slug(city)] {
		if state == "" || strings.EqualFold(state, t.cities[i].State) {
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
