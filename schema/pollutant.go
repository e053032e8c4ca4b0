package schema

import (
	"strings"
)

// Pollutant is one of the eight substances of India's National Air Quality
// Index. The zero value is no pollutant.
type Pollutant uint8

// The pollutants of the National AQI, in the order in which records list them.
// The numbers are those of the Enum8 columns in ClickHouse: never renumber.
const (
	PM25 Pollutant = 1 + iota
	PM10
	NO2
	SO2
	CO
	O3
	NH3
	Pb
)

// Pollutants is every pollutant of the index in the order of its constants.
var Pollutants = [...]Pollutant{PM25, PM10, NO2, SO2, CO, O3, NH3, Pb}

// RecordPollutants is the six pollutants that every air quality record carries
// (spec 2.1), in the order of the record.
var RecordPollutants = [...]Pollutant{PM25, PM10, NO2, SO2, CO, O3}

type pollutantFact struct {
	id, label, unit string
	molarMass       float64 // g/mol; 0 for particles and lead
}

// Molar masses: IUPAC standard atomic weights, two decimals.
var pollutantFacts = [...]pollutantFact{
	PM25: {"pm25", "PM2.5", "µg/m³", 0},
	PM10: {"pm10", "PM10", "µg/m³", 0},
	NO2:  {"no2", "NO2", "µg/m³", 46.01},
	SO2:  {"so2", "SO2", "µg/m³", 64.07},
	CO:   {"co", "CO", "mg/m³", 28.01},
	O3:   {"o3", "O3", "µg/m³", 48.00},
	NH3:  {"nh3", "NH3", "µg/m³", 17.03},
	Pb:   {"pb", "Pb", "µg/m³", 0},
}

// Valid reports whether p is one of the eight pollutants.
func (p Pollutant) Valid() bool { return p >= PM25 && p <= Pb }

// String returns the identifier used in columns and JSON fields, e.g. "pm25".
func (p Pollutant) String() string {
	if !p.Valid() {
		return "none"
	}
	return pollutantFacts[p].id
}

// Label returns the name shown to people, e.g. "PM2.5".
func (p Pollutant) Label() string {
	if !p.Valid() {
		return ""
	}
	return pollutantFacts[p].label
}

// Unit returns the unit in which concentrations of p are kept and shown:
// milligrams per cubic metre for CO, micrograms per cubic metre for the rest.
func (p Pollutant) Unit() string {
	if !p.Valid() {
		return ""
	}
	return pollutantFacts[p].unit
}

// pollutantAliases holds the spellings seen in CPCB's feeds and exports,
// data.gov.in, OpenAQ and sensor networks. NOx, NO and benzene are absent on
// purpose: they are not pollutants of the index.
var pollutantAliases = map[string]Pollutant{
	"pm25": PM25, "pm2.5": PM25, "pm2_5": PM25, "pm02": PM25, "p2": PM25,
	"pm10": PM10, "p1": PM10,
	"no2": NO2, "nitrogendioxide": NO2,
	"so2": SO2, "sulphurdioxide": SO2, "sulfurdioxide": SO2,
	"co": CO, "carbonmonoxide": CO,
	"o3": O3, "ozone": O3,
	"nh3": NH3, "ammonia": NH3,
	"pb": Pb, "lead": Pb,
}

// ParsePollutant resolves a source's name of a pollutant, whatever its case
// and blanks: "PM2.5", "OZONE", "o3". It reports false for anything that is
// not a pollutant of the index.
func ParsePollutant(name string) (Pollutant, bool) {
	if p, ok := pollutantAliases[name]; ok {
		return p, true
	}
	p, ok := pollutantAliases[strings.ToLower(strings.ReplaceAll(strings.TrimSpace(name), " ", ""))]
	return p, ok
}

// molarVolume is litres per mole of an ideal gas at 25 °C and 1013 hPa, the
// reference conditions of CPCB's limits.
const molarVolume = 24.45

// Convert turns a concentration of p given in unit into p's own unit
// (see [Pollutant.Unit]). Units known, in any case: µg/m³ (also ug/m3), mg/m³,
// ppb, ppm. It reports false for a unit that it does not know and for a volume
// ratio of a substance that is no gas.
func (p Pollutant) Convert(value float64, unit string) (float64, bool) {
	if !p.Valid() {
		return 0, false
	}
	var micrograms float64
	switch normalUnit(unit) {
	case "ug/m3":
		micrograms = value
	case "mg/m3":
		micrograms = value * 1000
	case "ppb", "ppm":
		mass := pollutantFacts[p].molarMass
		if mass == 0 {
			return 0, false
		}
		micrograms = value * mass / molarVolume
		if normalUnit(unit) == "ppm" {
			micrograms *= 1000
		}
	default:
		return 0, false
	}
	if p == CO {
		return micrograms / 1000, true
	}
	return micrograms, true
}

func normalUnit(unit string) string {
	switch unit { // the spellings that fill files
	case "µg/m³", "ug/m3":
		return "ug/m3"
	case "mg/m³", "mg/m3":
		return "mg/m3"
	case "ppb", "ppm":
		return unit
	}
	u := strings.ToLower(strings.TrimSpace(unit))
	u = strings.NewReplacer("µ", "u", "μ", "u", "³", "3", "^", "", " ", "").Replace(u)
	return u
}
