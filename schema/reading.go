package schema

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

// IndiaOffset is the offset of Indian Standard Time from UTC. India has had one
// zone and no daylight saving since 1945, so no zone table is needed.
const IndiaOffset = 5*time.Hour + 30*time.Minute

// India is Indian Standard Time.
var India = time.FixedZone("IST", int(IndiaOffset/time.Second))

// HourEnd returns the end of the Indian clock hour of an interval that ends at t.
// That is the first full hour of IST at or after t, in UTC (hh:30).
func HourEnd(t time.Time) time.Time {
	const hour = 3600
	s := t.Unix() + int64(IndiaOffset/time.Second)
	if t.Nanosecond() > 0 {
		s++
	}
	q := s / hour
	if s%hour > 0 {
		q++
	}
	return time.Unix(q*hour-int64(IndiaOffset/time.Second), 0).UTC()
}

// Day is an Indian calendar day (IST), in days since 1 January 1970.
type Day int32

// DayOf returns the Indian day of an interval that ends at t. An interval that
// ends at 24:00 belongs to the day that ends then.
func DayOf(t time.Time) Day {
	s := t.Unix() + int64(IndiaOffset/time.Second) - 1
	q := s / 86400
	if s%86400 < 0 {
		q--
	}
	return Day(q)
}

// ParseDay parses YYYY-MM-DD strictly: ten ASCII bytes and an existing date.
func ParseDay(s string) (Day, error) {
	t, err := time.Parse(time.DateOnly, s)
	if err != nil {
		return 0, err
	}
	return Day(t.Unix() / 86400), nil
}

// Start returns the first instant of the day, 00:00 IST, in UTC.
func (d Day) Start() time.Time {
	return time.Unix(int64(d)*86400-int64(IndiaOffset/time.Second), 0).UTC()
}

// End returns the last instant of the day, 24:00 IST, in UTC.
func (d Day) End() time.Time { return (d + 1).Start() }

// String returns the day as YYYY-MM-DD.
func (d Day) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly)
}

// FormatTime formats a time for replies and events: RFC 3339 in UTC, in whole seconds.
func FormatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// FormatMicros is [FormatTime] for the state store's microseconds of Unix time.
func FormatMicros(micros int64) string { return FormatTime(time.UnixMicro(micros)) }
