package air

import "vayu/schema/parameter"

// Pollutant is one of the eight substances in India's National Air Quality Index. The zero value is invalid.
type Pollutant uint8

// The pollutants of the National AQI, in the order of the fields of air quality records. Their numbers must not
// change, because Enum8 columns in ClickHouse have the same numbers. The first parameters of package parameter have
// these numbers too.
const (
	PM25 = Pollutant(parameter.PM25)
	PM10 = Pollutant(parameter.PM10)
	NO2  = Pollutant(parameter.NO2)
	SO2  = Pollutant(parameter.SO2)
	CO   = Pollutant(parameter.CO)
	O3   = Pollutant(parameter.O3)
	NH3  = Pollutant(parameter.NH3)
	Pb   = Pollutant(parameter.Pb)
)

// Pollutants lists the pollutants of the National AQI in the order of their constants.
var Pollutants = [...]Pollutant{PM25, PM10, NO2, SO2, CO, O3, NH3, Pb}

// RecordPollutants lists the six pollutants of an air quality record, in the order of its fields.
var RecordPollutants = [...]Pollutant{PM25, PM10, NO2, SO2, CO, O3}

// Valid reports whether p is one of the eight pollutants.
func (p Pollutant) Valid() bool { return p >= PM25 && p <= Pb }

// Parameter returns the pollutant as a [parameter.Parameter].
func (p Pollutant) Parameter() parameter.Parameter { return parameter.Parameter(p) }

// String returns the pollutant's identifier in columns and JSON fields: "pm25".
func (p Pollutant) String() string { return p.catalogued().ID() }

// Label returns the display name, such as "PM2.5".
func (p Pollutant) Label() string { return p.catalogued().Name() }

// Unit returns the unit of the pollutant's concentrations: mg/m³ for CO, µg/m³ for the others.
func (p Pollutant) Unit() string { return p.catalogued().Unit() }

// catalogued returns p as a parameter, or the zero Parameter if p is invalid.
func (p Pollutant) catalogued() parameter.Parameter {
	if !p.Valid() {
		return 0
	}
	return p.Parameter()
}

// ParsePollutant returns the pollutant of the National AQI that `name` stands for in a source, see [parameter.Parse].
// It returns false for an unknown name, and for a parameter without a sub-index.
func ParsePollutant(name string) (Pollutant, bool) {
	p, ok := parameter.Parse(name)
	if !ok || !p.Indexed() {
		return 0, false
	}
	return Pollutant(p), true
}
