package search

import (
	"cmp"
	"slices"
	"strings"

	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/schema/gazetteer"
)

// Index finds the cities, states and stations of a snapshot. It is immutable and safe for concurrent use.
type Index struct {
	cities *places.Index // of the snapshot
	names  []string      // of the snapshot's stations
	states []string
	at     []place
	search *places.Search
}

// place is a city, a station or a state. `number` is its index in Snapshot.Cities, Snapshot.Stations or Index.states.
type place struct {
	kind   string
	number int32
}

// NewIndex returns an index of a snapshot. It takes about a microsecond for each name.
func NewIndex(s *snapshot.Snapshot) *Index {
	x := &Index{cities: s.Index, states: gazetteer.States(), names: make([]string, len(s.Stations))}
	var all []places.Named
	cities := make([]int32, len(s.Cities))
	for i := range cities {
		cities[i] = int32(i)
	}
	slices.SortFunc(cities, func(a, b int32) int { // users search for large cities more often
		return cmp.Or(len(s.Cities[b].Stations)-len(s.Cities[a].Stations), strings.Compare(s.Index.Label(int(a)), s.Index.Label(int(b))))
	})
	for _, i := range cities {
		c := &s.Cities[i]
		names := gazetteer.Names(c.Name, c.State)
		all = append(all, places.Named{Names: names, Around: stateNames(c.State), Whole: withState(names, c.State)})
		x.at = append(x.at, place{"city", i})
	}
	for i, name := range x.states {
		all = append(all, places.Named{Names: stateNames(name)})
		x.at = append(x.at, place{"state", int32(i)})
	}
	for i := range s.Stations {
		st := &s.Stations[i]
		x.names[i] = st.Name
		all = append(all, places.Named{Names: []string{st.Name}, Around: append(append(gazetteer.Names(st.City, st.State), st.ID), stateNames(st.State)...)})
		x.at = append(x.at, place{"station", int32(i)})
	}
	x.search = places.NewSearch(all)
	return x
}

// stateNames returns all names and codes of a state, the canonical one first.
func stateNames(state string) []string {
	codes, names := gazetteer.StateNames(state)
	return slices.Concat([]string{state}, names, codes)
}

// withState returns the names of a city in Latin script, each followed by the name or a code of its state. By these
// names, a search for a city and its state finds the city before its stations.
func withState(names []string, state string) []string {
	var all []string
	codes, _ := gazetteer.StateNames(state)
	for _, name := range names {
		if gazetteer.Script(name) == 0 {
			for _, in := range append([]string{state}, codes...) {
				all = append(all, name+" "+in)
			}
		}
	}
	return all
}

// Fits reports whether the index has the places of a snapshot under their present names. A snapshot with the same
// places.Index has the same stations in the same order, so Fits compares only the names.
func (x *Index) Fits(s *snapshot.Snapshot) bool {
	return x.cities == s.Index && slices.EqualFunc(x.names, s.Stations, func(name string, st snapshot.Station) bool { return name == st.Name })
}

// find returns the places that a request selects, the best first.
func (x *Index) find(r Request) []int {
	limit := r.limit
	if r.kind != "" {
		limit = len(x.at)
	}
	found := slices.DeleteFunc(x.search.Find(r.text, limit), func(i int) bool { return r.kind != "" && x.at[i].kind != r.kind })
	return found[:min(r.limit, len(found))]
}
