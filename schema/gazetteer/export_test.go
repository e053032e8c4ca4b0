package gazetteer

import "slices"

// Cities returns every city of the table.
func Cities() []City { return load().cities }

// HandWritten returns every city with the names of cities.csv only.
func HandWritten() []City {
	indic, cities := indicNames(), slices.Clone(Cities())
	for i, c := range cities {
		n := len(indic[[2]string{c.Name, c.State}])
		cities[i].Aliases = slices.Clone(c.Aliases[:len(c.Aliases)-n])
	}
	return cities
}

// IndicNames returns the names of cities in Indian scripts, by name and state.
func IndicNames() map[[2]string][]string { return indicNames() }
