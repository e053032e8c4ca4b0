// Package parameter is the catalogue of what stations measure: substances,
// weather and the instrument's surroundings, each with its unit, its range and
// the names under which networks report it.
//
// A parameter is one row of the catalogue. Readings of any parameter are
// stored; only the eight of India's National Air Quality Index have a
// sub-index.
package parameter

import (
	"iter"
	"strings"
)

// Parameter is an entry of the catalogue by its number. Numbers identify
// parameters within one process only; tables hold [Parameter.ID]. The zero
// value is no parameter.
type Parameter uint8

// The parameters of India's National Air Quality Index. Their numbers are
// those of the Enum8 columns `dominant` in ClickHouse: never renumber.
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

// indexed is how many parameters have a sub-index: the first of the catalogue.
const indexed = 8

// Group is what kind of quantity a parameter is.
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
	molarMass      float64 // g/mol, IUPAC standard atomic weights; 0: no volume ratio
	least, most    float64 // range that is believed, in unit
	aliases        []string
}

// Valid reports whether p is in the catalogue.
func (p Parameter) Valid() bool { return p > 0 && int(p) <= len(catalogue) }

// Indexed reports whether p is one of the eight of the National Air Quality
// Index.
func (p Parameter) Indexed() bool { return p > 0 && p <= indexed }

func (p Parameter) entry() *entry {
	if !p.Valid() {
		return &entry{id: "none"}
	}
	return &catalogue[p-1]
}

// ID returns the identifier used in columns and JSON fields, e.g. "pm25".
func (p Parameter) ID() string { return p.entry().id }

// String returns [Parameter.ID].
func (p Parameter) String() string { return p.ID() }

// Name returns the name shown to people, e.g. "PM2.5".
func (p Parameter) Name() string { return p.entry().name }

// Unit returns the unit in which values of p are kept and shown.
func (p Parameter) Unit() string { return p.entry().unit }

// Group returns what kind of quantity p is.
func (p Parameter) Group() Group { return p.entry().group }

// MolarMass returns g/mol, or 0 for what has no volume ratio.
func (p Parameter) MolarMass() float64 { return p.entry().molarMass }

// Range returns the least and the largest value of p that are believed, in
// p's unit. Values outside cannot be true and are rejected on arrival.
func (p Parameter) Range() (least, most float64) {
	e := p.entry()
	return e.least, e.most
}

// Signed reports whether values of p may be below zero.
func (p Parameter) Signed() bool { return p.entry().least < 0 }

// Circular reports whether values of p are directions, whose mean is that of
// unit vectors.
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

// byAlias finds parameters by identifier and alias in folded form.
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

// fold removes case, blanks, underscores and hyphens.
func fold(name string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(name)))
}

// Parse resolves a source's name of a parameter, whatever its case, blanks,
// hyphens and underscores: "PM2.5", "OZONE", "o3", "Eth-Benzene". It reports
// false for a name that the catalogue does not hold.
func Parse(name string) (Parameter, bool) {
	if p, ok := byAlias[name]; ok {
		return p, true
	}
	p, ok := byAlias[fold(name)]
	return p, ok
}
