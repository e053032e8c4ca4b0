package file

import (
	"time"

	"vayu/ingest/cpcbformat"
	"vayu/ingest/source/file/table"
	"vayu/schema"
)

// interval has the columns of a CAAQM table that state the start and the end of each row's interval. Each of these
// times is in one cell, or in two cells with the date and the time of day. An index below 0 means that there is no such
// column.
type interval struct {
	fromDate, fromTime, toDate, toTime int

	from, to table.Clock
	text     []byte
}

func newInterval(h table.Header) interval {
	return interval{
		fromDate: h.Find("from date", "from_date"), fromTime: h.Find("from_time", "from time"),
		toDate: h.Find("to date", "to_date"), toTime: h.Find("to_time", "to time"),
	}
}

// begin returns the start of the row's interval.
func (i *interval) begin(cells [][]byte) (time.Time, bool) {
	return i.from.Parse(i.join(cells, i.fromDate, i.fromTime), exportTime)
}

// end returns the end of the row's interval and its length in minutes. It returns false for an invalid time, and for a
// length below a minute or above a day. A mean over more than a day cannot be assigned to an hour or day.
func (i *interval) end(cells [][]byte) (time.Time, uint16, bool) {
	from, ok := i.begin(cells)
	if !ok {
		return time.Time{}, 0, false
	}
	to, ok := i.to.Parse(i.join(cells, i.toDate, i.toTime), exportTime)
	if !ok {
		return time.Time{}, 0, false
	}
	minutes, ok := table.Minutes(to.Sub(from))
	return to, minutes, ok
}

// join returns the text of a date and a time of day that are in one cell or in two.
func (i *interval) join(cells [][]byte, date, clock int) []byte {
	if clock < 0 {
		return table.At(cells, date)
	}
	i.text = append(i.text[:0], table.At(cells, date)...)
	i.text = append(i.text, ' ')
	i.text = append(i.text, table.At(cells, clock)...)
	return i.text
}

// exportTime parses a time of an export. Excel may have converted it to a number of days since 30 December 1899.
func exportTime(text []byte) (time.Time, bool) {
	if t, ok := cpcbformat.ParseTime(text); ok {
		return t, true
	}
	at, ok := table.ExcelTime(text)
	return at.Add(-schema.IndiaOffset), ok
}
