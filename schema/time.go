package schema

import "time"

// IndiaOffset is the offset of Indian Standard Time (IST) from UTC. Since 1945 India
// has had one time zone and no daylight saving, so no zone table is needed.
const IndiaOffset = 5*time.Hour + 30*time.Minute

// India is the time zone of Indian Standard Time.
var India = time.FixedZone("IST", int(IndiaOffset/time.Second))

// HourEnd returns the end of the Indian hour to which an interval that ends at t belongs. It is the first full hour of
// IST at or after t, in UTC (hh:30).
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

// DayOf returns the Indian day to which an interval that ends at t belongs. An interval that ends at 24:00 belongs to
// the ending day.
func DayOf(t time.Time) Day {
	s := t.Unix() + int64(IndiaOffset/time.Second) - 1
	q := s / 86400
	if s%86400 < 0 {
		q--
	}
	return Day(q)
}

// ParseDay parses a day in exactly the form YYYY-MM-DD (ten ASCII bytes). It rejects dates that do not exist.
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

// String returns the day in the form YYYY-MM-DD.
func (d Day) String() string {
	return time.Unix(int64(d)*86400, 0).UTC().Format(time.DateOnly)
}

// FormatTime formats a time for replies and events: RFC 3339 in UTC, in whole seconds.
func FormatTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// FormatMillis formats a stored time (microseconds since 1970 in UTC): RFC 3339 in UTC, with three decimals of a second.
func FormatMillis(micros int64) string {
	return time.UnixMicro(micros).UTC().Format("2006-01-02T15:04:05.000Z")
}

// FormatExact formats a time: RFC 3339 in UTC, with six decimals of a second.
func FormatExact(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000000Z") }

// FormatMicros formats a stored time (microseconds since 1970 in UTC) as [FormatTime] does.
func FormatMicros(micros int64) string { return FormatTime(time.UnixMicro(micros)) }
