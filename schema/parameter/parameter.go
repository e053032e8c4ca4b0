// Package parameter is the catalogue of measured quantities: substances, weather
// and the instrument's surroundings. Each has a unit, a range and the names that
// networks use.
//
// A parameter is one row of the catalogue. Readings of any parameter are stored.
// Only the eight of India's National Air Quality Index have a sub-index, the index
// of one pollutant.
package parameter

import (
	"iter"
	"strings"
)

// Parameter is the number of a catalogue entry. Numbers identify parameters within
// one process only; tables hold [Parameter.ID]. The zero value is invalid.
type Parameter uint8

// The parameters of India's National Air Quality Index. Their numbers are those of
// the Enum8 columns `dominant` in ClickHouse: never renumber.
const (
	PM25 Parameter = 1 + iota
	PM10
	NO2
	SO2
	CO
	O3
	NH3
	Pb
)

// indexed is the number of parameters with a sub-index, the first of the
// catalogue.
const indexed = 8

// Group is the kind of quantity of a parameter.
type Group string

// The groups.
const (
	Particle Group = "particle" // mass of particles
	Gas      Group = "gas"
	Organic  Group = "organic" // volatile organic compounds
	Metal    Group = "metal"
	Weather  Group = "weather"
)

// entry is one row of the catalogue.
type entry struct {
	id, name, unit string
	group          Group
	molarMass      float64 // molar mass in g/mol (IUPAC); 0 if mass and ppb are not converted
	least, most    float64 // valid range, in unit
	aliases        []string
}

// Valid reports whether p is a known parameter.
func (p Parameter) Valid() bool { return p > 0 && int(p) <= len(catalogue) }

// Indexed reports whether p is one of the eight of the National Air Quality Index.
func (p Parameter) Indexed() bool { return p > 0 && p <= indexed }

func (p Parameter) entry() *entry {
	if !p.Valid() {
		return &entry{id: "none"}
	}
	return &catalogue[p-1]
}

// ID returns the identifier in columns and JSON fields, e.g. "pm25".
func (p Parameter) ID() string { return p.entry().id }

// String returns the id, as [Parameter.ID] does.
func (p Parameter) String() string { return p.ID() }

// Name returns the display name, e.g. "PM2.5".
func (p Parameter) Name() string { return p.entry().name }

// Unit returns the unit of stored and shown values of p.
func (p Parameter) Unit() string { return p.entry().unit }

// Group returns the kind of quantity of p.
func (p Parameter) Group() Group { return p.entry().group }

// MolarMass returns g/mol, or 0 if p is not converted between mass and ppb.
func (p Parameter) MolarMass() float64 { return p.entry().molarMass }

// Range returns the smallest and largest valid value of p, in p's unit. Values
// outside are rejected on arrival.
func (p Parameter) Range() (least, most float64) {
	e := p.entry()
	return e.least, e.most
}

// Signed reports whether values of p may be below zero.
func (p Parameter) Signed() bool { return p.entry().least < 0 }

// Circular reports whether values of p are directions, whose mean is that of unit
// vectors.
func (p Parameter) Circular() bool { return p.entry().unit == "°" }

// All yields the catalogue in its order.
func All() iter.Seq[Parameter] {
	return func(yield func(Parameter) bool) {
		for i := range catalogue {
			if !yield(Parameter(i + 1)) {
				return
			}
		}
	}
}

// byAlias maps identifiers, names and aliases, as [fold] returns them, to
// parameters.
var byAlias = func() map[string]Parameter {
	all := make(map[string]Parameter)
	for p := range All() {
		e := p.entry()
		for _, name := range append([]string{e.id, e.name}, e.aliases...) {
			all[fold(name)] = p
		}
	}
	return all
}()

// fold converts a name to lower case and removes blanks, underscores and hyphens.
func fold(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Parse resolves a source's name of a parameter and ignores case, blanks, hyphens
// and underscores: "PM2.5", "OZONE", "o3", "Eth-Benzene". It reports false for an
// unknown name.
func Parse(name string) (Parameter, bool) {
	if p, ok := byAlias[name]; ok {
		return p, true
	}
	p, ok := byAlias[fold(name)]
	return p, ok
}
