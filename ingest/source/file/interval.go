package file

import (
	"time"

	"vayu/ingest/cpcbformat"
	"vayu/schema"
)

// interval is the columns of a CAAQM table that hold a row's interval. Each end
// has one cell with date and time, or two cells.
type interval struct {
	fromDate, fromTime, toDate, toTime int

	from, to clock
	text     []byte
}

func newInterval(h header) interval {
	return interval{
		fromDate: h.find("from date", "from_date"), fromTime: h.find("from_time", "from time"),
		toDate: h.find("to date", "to_date"), toTime: h.find("to_time", "to time"),
	}
}

// begin returns the beginning of the row's interval.
func (i *interval) begin(cells [][]byte) (time.Time, bool) {
	return i.from.parse(i.join(cells, i.fromDate, i.fromTime), exportTime)
}

// end returns the end of the row's interval and the length in minutes. It reports
// false unless the length is between a minute and a day. Longer means describe
// neither an hour nor a day.
func (i *interval) end(cells [][]byte) (time.Time, uint16, bool) {
	from, ok := i.begin(cells)
	if !ok {
		return time.Time{}, 0, false
	}
	to, ok := i.to.parse(i.join(cells, i.toDate, i.toTime), exportTime)
	if !ok {
		return time.Time{}, 0, false
	}
	minutes, ok := length(to.Sub(from))
	return to, minutes, ok
}

// length returns an interval in minutes, the unit of readings.
func length(d time.Duration) (uint16, bool) {
	if d < time.Minute || d > time.Duration(schema.Daily)*time.Minute {
		return 0, false
	}
	return uint16(d / time.Minute), true
}

// join joins a date and a time from two cells.
func (i *interval) join(cells [][]byte, date, clock int) []byte {
	if clock < 0 {
		return at(cells, date)
	}
	i.text = append(i.text[:0], at(cells, date)...)
	i.text = append(i.text, ' ')
	i.text = append(i.text, at(cells, clock)...)
	return i.text
}

// exportTime parses a time of an export. Excel may have turned it into a number of
// days since 30 December 1899.
func exportTime(text []byte) (time.Time, bool) {
	if t, ok := cpcbformat.ParseTime(text); ok {
		return t, true
	}
	return serial(text)
}
