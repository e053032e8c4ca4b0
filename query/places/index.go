package places

import (
	"fmt"
	"slices"
	"strings"

	"vayu/schema"
	"vayu/schema/gazetteer"
)

// City identifies a city by its canonical name and state.
type City struct{ Name, State string }

// Index finds cities by any of their names. It is immutable and safe for concurrent
// use.
type Index struct {
	cities []City
	labels []string
	byKey  map[string][]int32 // city numbers by name; a name usually has one city
	terms  []term             // names without a state, sorted by key, for prefixes and suggestions
}

type term struct {
	key  string
	city int32
}

// NewIndex returns an index of cities. Its methods identify a city by its position in the slice
// `cities`.
func NewIndex(cities []City) *Index {
	x := &Index{cities: cities, labels: make([]string, len(cities)), byKey: make(map[string][]int32, 6*len(cities))}
	states := map[string][]int{}
	for i, c := range cities {
		key := gazetteer.Key(c.Name)
		states[key] = append(states[key], i)
	}
	for i, c := range cities {
		x.labels[i] = c.Name
		if key := gazetteer.Key(c.Name); c.State != "" && (len(states[key]) > 1 || gazetteer.Homonymous(c.Name)) {
			x.labels[i] = c.Name + ", " + c.State
		}
		x.add(int32(i), c)
	}
	for key, found := range x.byKey {
		x.byKey[key] = x.preferKnownState(found)
	}
	slices.SortFunc(x.terms, func(a, b term) int { return strings.Compare(a.key, b.key) })
	return x
}

func (x *Index) add(i int32, c City) {
	entry := gazetteer.City{Name: c.Name, State: c.State}
	for _, known := range gazetteer.Lookup(c.Name) {
		if known.State == c.State {
			entry = known
		}
	}
	for _, key := range entry.Keys() {
		if !slices.Contains(x.byKey[key], i) {
			x.byKey[key] = append(x.byKey[key], i)
		}
	}
	for _, name := range append([]string{c.Name}, entry.Aliases...) {
		x.terms = append(x.terms, term{gazetteer.Key(name), i})
	}
}

// preferKnownState removes a city without a state if a city of the same name has a state: the two are the same city.
func (x *Index) preferKnownState(found []int32) []int32 {
	if len(found) < 2 {
		return found
	}
	var withState []int32
	for _, i := range found {
		if x.cities[i].State != "" {
			withState = append(withState, i)
		}
	}
	if len(withState) == 0 {
		return found[:1]
	}
	return withState
}

// City returns the city at position i of the slice from which the index was made.
func (x *Index) City(i int) City { return x.cities[i] }

// Label returns the name of a city in replies. It includes the state if cities in
// several states have the same name.
func (x *Index) Label(i int) string { return x.labels[i] }

// Find returns the position of the city with a name. Its error is a *schema.Problem. A location_not_found problem has
// suggestions, and an ambiguous_location problem has candidates. For a city of the gazetteer without readings, the
// problem is no_data.
func (x *Index) Find(name string) (int, error) {
	var buf [64]byte
	key := gazetteer.AppendKey(buf[:0], name)
	found := x.byKey[string(key)]
	if len(found) == 1 {
		return int(found[0]), nil
	}
	return 0, x.notFound(name, string(key), found)
}

func (x *Index) notFound(name, key string, found []int32) error {
	if len(found) > 1 {
		p := schema.NewProblem(schema.AmbiguousLocation, "city", "")
		for _, i := range found {
			p.Candidates = append(p.Candidates, x.cities[i].Name+", "+x.cities[i].State)
		}
		slices.Sort(p.Candidates)
		p.Message = fmt.Sprintf("Several cities are called %s. Send one of: %s.", quote(name), strings.Join(p.Candidates, "; "))
		return p
	}
	if known := gazetteer.Lookup(name); key != "" && len(known) > 0 {
		return schema.NewProblem(schema.NoData, "city", fmt.Sprintf("There are no readings for %s, %s.", known[0].Name, known[0].State))
	}
	p := schema.NewProblem(schema.LocationNotFound, "city", fmt.Sprintf("No city is called %s.", quote(name)))
	p.Suggestions = x.Suggest(key, maxSuggestions)
	if len(p.Suggestions) > 0 {
		p.Message += " Did you mean " + strings.Join(p.Suggestions, ", ") + "?"
	}
	return p
}

// Prefix returns the positions of the cities with a name that begins with `prefix`, sorted by
// label. In `prefix`, the state can follow the canonical name. An empty prefix selects all cities.
func (x *Index) Prefix(prefix string) []int {
	key := gazetteer.Key(prefix)
	from, _ := slices.BinarySearchFunc(x.terms, key, func(t term, k string) int { return strings.Compare(t.key, k) })
	seen := make([]bool, len(x.cities))
	var out []int
	for _, t := range x.terms[from:] {
		if !strings.HasPrefix(t.key, key) {
			break
		}
		if !seen[t.city] {
			seen[t.city] = true
			out = append(out, int(t.city))
		}
	}
	for i, c := range x.cities {
		if c.State != "" && !seen[i] && len(key) > len(c.Name) && strings.HasPrefix(gazetteer.Key(c.Name+c.State), key) {
			out = append(out, i)
		}
	}
	slices.SortFunc(out, func(a, b int) int { return strings.Compare(x.labels[a], x.labels[b]) })
	return out
}

// maxQuoted is how many characters of a client's text an error message quotes.
const maxQuoted = 60

func quote(name string) string {
	runes := []rune(name)
	if len(runes) > maxQuoted {
		return "“" + string(runes[:maxQuoted]) + "…”"
	}
	return "“" + name + "”"
}
