package air

import (
	"time"

	"vayu/schema/parameter"
)

// Kind distinguishes concentrations from sub-indices (indices of one pollutant).
type Kind uint8

const (
	// Concentration is a measured value in the unit of its parameter. For weather
	// it is a temperature, a speed and so on.
	Concentration Kind = 1 + iota
	// SubIndex is a value 0–500 that the source computed over the index's own
	// averaging interval (24 hours; 8 for O3 and CO). CPCB's live feed and
	// data.gov.in publish these instead of concentrations.
	SubIndex
)

// String returns the identifier of the Enum8 column in ClickHouse.
func (k Kind) String() string {
	switch k {
	case Concentration:
		return "concentration"
	case SubIndex:
		return "sub_index"
	}
	return "none"
}

// Flag marks a reading that is stored despite an anomaly.
type Flag uint8

const (
	// Plain is a reading without an anomaly.
	Plain Flag = iota
	// Stuck is a value with equal minimum, maximum and mean over a day and no
	// hourly value. The sensor is probably stuck.
	Stuck
	// Clipped is a value at the end of its sensor's range.
	Clipped
)

// String returns the identifier of the Enum8 column in ClickHouse.
func (f Flag) String() string {
	switch f {
	case Stuck:
		return "stuck"
	case Clipped:
		return "clipped"
	}
	return "plain"
}

// Averaging intervals of readings in minutes.
const (
	Hourly uint16 = 60
	Daily  uint16 = 1440
)

// Reading is one value of one parameter at one station. At is the end of the
// averaging interval, in UTC. Value is in the parameter's own unit, or 0–500 for a
// SubIndex. Averaging is the interval in minutes; for a SubIndex it is the
// source's publication interval (60).
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
