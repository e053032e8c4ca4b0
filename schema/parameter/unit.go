package parameter

import (
	"maps"
	"slices"
	"strings"
)

// MolarVolume is the volume of one mole of an ideal gas at 25 °C, in litres. At 1 atm (1013.25 hPa) it is R·T/p =
// 8.314462618 · 298.15 / 101325 · 1000 = 24.465. CPCB and US EPA use 24.45, the value at 1013.9 hPa. So µg/m³ = ppb · M
// / 24.45, where M is the molar mass in g/mol.
const MolarVolume = 24.45

// measure describes a unit: the quantity that it measures, and the conversion of a value to the base unit of the
// quantity, which is value·factor + offset. The constants of type quantity name the base units.
type measure struct {
	quantity       quantity
	factor, offset float64
}

type quantity uint8

const (
	unknown     quantity = iota
	mass                 // µg/m³
	ratio                // ppb, by volume
	temperature          // °C
	share                // %
	pressure             // hPa
	speed                // m/s
	angle                // °
	length               // mm
	irradiance           // W/m²
)

// measures maps each known unit, in the form that [normalUnit] returns, to its measure.
var measures = map[string]measure{
	"ug/m3": {mass, 1, 0}, "mg/m3": {mass, 1000, 0}, "ng/m3": {mass, 0.001, 0},
	"ppb": {ratio, 1, 0}, "ppm": {ratio, 1000, 0}, "ppt": {ratio, 0.001, 0},
	"c": {temperature, 1, 0}, "degc": {temperature, 1, 0}, "celsius": {temperature, 1, 0}, "degreec": {temperature, 1, 0},
	"f": {temperature, 5.0 / 9, -160.0 / 9}, "degf": {temperature, 5.0 / 9, -160.0 / 9}, "k": {temperature, 1, -273.15},
	"%": {share, 1, 0}, "percent": {share, 1, 0}, "%rh": {share, 1, 0},
	"hpa": {pressure, 1, 0}, "mbar": {pressure, 1, 0}, "mb": {pressure, 1, 0}, "pa": {pressure, 0.01, 0}, "kpa": {pressure, 10, 0},
	"mmhg": {pressure, 1.33322387415, 0}, "atm": {pressure, 1013.25, 0},
	"m/s": {speed, 1, 0}, "km/h": {speed, 1 / 3.6, 0}, "kmph": {speed, 1 / 3.6, 0}, "mph": {speed, 0.44704, 0}, "kn": {speed, 1852.0 / 3600, 0},
	"deg": {angle, 1, 0}, "degree": {angle, 1, 0}, "degrees": {angle, 1, 0},
	"mm": {length, 1, 0}, "cm": {length, 10, 0},
	"w/m2": {irradiance, 1, 0}, "w/mt2": {irradiance, 1, 0},
}

// Units returns the normalised spellings of all known units, sorted.
func Units() []string { return slices.Sorted(maps.Keys(measures)) }

// Convert converts a value of p from `unit` to p's own unit (see [Parameter.Unit]). It accepts different spellings of
// the unit. If p has a molar mass, it also converts between mass concentration and volume ratio. Convert returns false
// for an unknown unit, and for a unit of another quantity.
func (p Parameter) Convert(value float64, unit string) (float64, bool) {
	e := p.entry()
	from, known := measures[normalUnit(unit)]
	into, own := measures[normalUnit(e.unit)]
	if !known || !own {
		return 0, false
	}
	base := value*from.factor + from.offset
	switch {
	case from.quantity == into.quantity:
	case e.molarMass == 0:
		return 0, false
	case from.quantity == ratio && into.quantity == mass:
		base = value * e.molarMass / MolarVolume * from.factor
	case from.quantity == mass && into.quantity == ratio:
		base = base * MolarVolume / e.molarMass
	default:
		return 0, false
	}
	return (base - into.offset) / into.factor, true
}

func normalUnit(unit string) string {
	switch unit { // the frequent spellings
	case "µg/m³", "ug/m3":
		return "ug/m3"
	case "mg/m³", "mg/m3":
		return "mg/m3"
	case "ppb", "ppm":
		return unit
	}
	u := strings.ToLower(strings.TrimSpace(unit))
	u = strings.NewReplacer("µ", "u", "μ", "u", "³", "3", "²", "2", "^", "", " ", "", "°", "deg").Replace(u)
	if u == "degdeg" {
		return "deg"
	}
	return u
}
