// Package parameter is the catalogue of measured quantities: substances in the air, and weather. Each quantity has a
// unit, a valid range and the names that networks use for it.
//
// A parameter is one row of the catalogue. Readings of all parameters are stored. Only the eight parameters of India's
// National Air Quality Index have a sub-index, which is the index of one pollutant.
package parameter

import (
	"iter"
	"strings"
)

// Parameter is the number of a row of the catalogue. Except for the constants below, a number is valid only within one
// process, so tables contain [Parameter.ID] instead. The zero value is invalid.
type Parameter uint8

// The parameters of India's National Air Quality Index. Their numbers must not change, because the Enum8 columns
// `dominant` in ClickHouse contain them.
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

// indexed is the number of parameters that have a sub-index. They are the first ones of the catalogue.
const indexed = 8

// Group is a group of similar parameters, such as gases.
type Group string

// The groups of parameters.
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

// Valid reports whether p is in the catalogue.
func (p Parameter) Valid() bool { return p > 0 && int(p) <= len(catalogue) }

// Indexed reports whether p is one of the eight parameters of the National Air Quality Index.
func (p Parameter) Indexed() bool { return p > 0 && p <= indexed }

func (p Parameter) entry() *entry {
	if !p.Valid() {
		return &entry{id: "none"}
	}
	return &catalogue[p-1]
}

// ID returns the identifier of p in columns and JSON fields, such as "pm25".
func (p Parameter) ID() string { return p.entry().id }

// String returns the same text as [Parameter.ID].
func (p Parameter) String() string { return p.ID() }

// Name returns the display name of p, such as "PM2.5".
func (p Parameter) Name() string { return p.entry().name }

// Unit returns the unit in which values of p are stored and shown.
func (p Parameter) Unit() string { return p.entry().unit }

// Group returns the group that p belongs to.
func (p Parameter) Group() Group { return p.entry().group }

// MolarMass returns the molar mass of p in g/mol. It is 0 if values of p are not converted between mass and ppb.
func (p Parameter) MolarMass() float64 { return p.entry().molarMass }

// Range returns the smallest and the largest valid value of p, in p's unit.
// Readings outside this range are rejected when they arrive.
func (p Parameter) Range() (least, most float64) {
	e := p.entry()
	return e.least, e.most
}

// Signed reports whether p can have negative values.
func (p Parameter) Signed() bool { return p.entry().least < 0 }

// Circular reports whether the values of p are directions. A mean of directions is computed from unit vectors.
func (p Parameter) Circular() bool { return p.entry().unit == "°" }

// All yields every parameter, in the order of the catalogue.
func All() iter.Seq[Parameter] {
	return func(yield func(Parameter) bool) {
		for i := range catalogue {
			if !yield(Parameter(i + 1)) {
				return
			}
		}
	}
}

// byAlias maps every identifier, display name and alias to its parameter. The keys are in the form that [fold] returns.
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

// Parse returns the parameter for which a source uses `name`, such as "PM2.5", "OZONE", "o3" or "Eth-Benzene". It
// ignores case, blanks, hyphens and underscores. It returns false for an unknown name.
func Parse(name string) (Parameter, bool) {
	if p, ok := byAlias[name]; ok {
		return p, true
	}
	p, ok := byAlias[fold(name)]
	return p, ok
}
