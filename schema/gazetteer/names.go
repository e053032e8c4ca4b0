package gazetteer

import (
	_ "embed" // state_names.csv, city_names.csv
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"vayu/schema/air"
)

//go:embed state_names.csv
var stateNamesCSV string

//go:embed city_names.csv
var cityNamesCSV string

// stateTable has the codes and names of states.
type stateTable struct {
	codes, names map[string][]string // by canonical name
	byKey        map[string]string   // key of a name or code -> canonical name
}

var loadStates = sync.OnceValue(func() stateTable {
	t := stateTable{codes: map[string][]string{}, names: map[string][]string{}, byKey: map[string]string{}}
	for line := range rows(stateNamesCSV) {
		name := line[0]
		t.codes[name] = strings.Split(line[1], "|")
		t.names[name] = append(air.OtherStateNames(name), strings.Split(line[2], "|")...)
		for _, other := range slices.Concat([]string{name}, t.codes[name], t.names[name]) {
			t.byKey[Key(other)] = name
		}
	}
	return t
})

// rows yields the fields of each line of a file with three columns. It skips comment lines, which begin with "#".
func rows(file string) func(func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(file) {
			if fields := strings.SplitN(strings.TrimSpace(line), ",", 3); !strings.HasPrefix(line, "#") && !yield(fields) {
				return
			}
		}
	}
}

// FindState returns the canonical name of a state or union territory. `text` is a name of the state in any of ten
// languages, an old name, or a code such as "UP". `ok` is false for any other text.
func FindState(text string) (name string, ok bool) {
	name, ok = loadStates().byKey[Key(air.CleanState(text))]
	return name, ok
}

// StateNames returns the codes of a state, and its names except the canonical one. Both slices are read-only.
func StateNames(state string) (codes, names []string) {
	t := loadStates()
	return t.codes[state], t.names[state]
}

// indicNames returns the names of cities in Indian scripts, by name and state.
func indicNames() map[[2]string][]string {
	names := map[[2]string][]string{}
	for line := range rows(cityNamesCSV) {
		names[[2]string{line[0], line[1]}] = strings.Split(line[2], "|")
	}
	return names
}

// HindiName returns the Hindi name of a city. `text` is the city's canonical name, alone or with the state, as in
// "Aurangabad, Bihar". HindiName returns any other text unchanged, such as the name of a station.
func HindiName(text string) string {
	name, state, both := strings.Cut(text, ", ")
	t := load()
	for _, i := range t.byName[Key(text)] {
		c := &t.cities[i]
		switch {
		case c.Name != name || both && c.State != state:
		case both:
			return inHindi(name, c.Aliases) + ", " + inHindi(state, loadStates().names[state])
		default:
			return inHindi(name, c.Aliases)
		}
	}
	return text
}

// inHindi returns the first of `names` in Devanagari, which is the Hindi name. If there is none, it returns `english`.
func inHindi(english string, names []string) string {
	if i := slices.IndexFunc(names, func(name string) bool { return Script(name) == 1 }); i >= 0 {
		return names[i]
	}
	return english
}

// Script returns the number of the Indian script of a text's first character, from 1 for Devanagari to 9 for
// Malayalam, in the order of Unicode. It returns 0 for all other scripts.
func Script(text string) int {
	r, _ := utf8.DecodeRuneInString(text)
	if r < devanagari || r >= devanagari+Scripts*blockSize {
		return 0
	}
	return int(r-devanagari)/blockSize + 1
}

// Scripts is the number of Indian scripts that [Script] knows.
const Scripts = 9

// Unicode has the Indian scripts in blocks of 128 characters. A letter has the same place in each block.
const (
	devanagari = 0x0900
	blockSize  = 0x80
)
