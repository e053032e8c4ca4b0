package air

import (
	"time"

	"vayu/schema/parameter"
)

// Kind is the kind of a value: a concentration, or a sub-index (the index of one pollutant).
type Kind uint8

const (
	// Concentration is a measured value in the unit of its parameter. For weather it is
	// a temperature, a speed and so on.
	Concentration Kind = 1 + iota
	// SubIndex is a value from 0 to 500 that the source computed over the National AQI's averaging interval (24 hours;
	// 8 for O3 and CO). CPCB's live feed and data.gov.in publish sub-indices, not concentrations.
	SubIndex
)

// String returns the identifier of k in the Enum8 column in ClickHouse.
func (k Kind) String() string {
	switch k {
	case Concentration:
		return "concentration"
	case SubIndex:
		return "sub_index"
	}
	return "none"
}

// Flag is the anomaly of a reading, or Plain if there is none. A reading with an anomaly is stored nevertheless.
type Flag uint8

const (
	// Plain marks a reading without an anomaly.
	Plain Flag = iota
	// Stuck marks the mean of a day that equals the minimum and the maximum of the day, while the last hour has no
	// value. The sensor is then probably stuck.
	Stuck
	// Clipped marks a value at the end of its sensor's range.
	Clipped
)

// String returns the identifier of f in the Enum8 column in ClickHouse.
func (f Flag) String() string {
	switch f {
	case Stuck:
		return "stuck"
	case Clipped:
		return "clipped"
	}
	return "plain"
}

// Lengths of the averaging intervals of readings, in minutes.
const (
	Hourly uint16 = 60
	Daily  uint16 = 1440
)

// Reading is one value of one parameter at one station. At is the end of the averaging interval, in UTC. Averaging is
// the length of this interval in minutes. Value is in the parameter's unit, or 0–500 for a SubIndex. The Averaging of a
// SubIndex is the interval at which the source publishes (60).
type Reading struct {
	Station   string
	Parameter parameter.Parameter
	At        time.Time
	Value     float64
	Kind      Kind
	Averaging uint16
	Flag      Flag
	Source    string
}
