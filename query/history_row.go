package query

import (
	"slices"
	"time"

	"vayu/schema"
)

// row holds the figures of a place on an Indian day or, if day is hourOnly, in an
// hour.
type row struct {
	day schema.Day
	figures
}

// hourOnly, which is no valid day, marks a row that holds an hour.
const hourOnly = notDirty

// span is a range of days, both included.
type span struct{ first, last schema.Day }

func find(days []row, d schema.Day) (int, bool) {
	return slices.BinarySearchFunc(days, d, func(e row, d schema.Day) int { return int(e.day) - int(d) })
}

// between returns the rows of these days. rows are sorted by day.
func between(rows []row, days span) []row {
	i, _ := find(rows, days.first)
	j, _ := find(rows, days.last+1)
	return rows[i:j]
}

// append appends the row as a record.
func (r *row) append(b []byte, label string) []byte {
	record := r.record(label)
	b = record.Append(b)
	if r.day != hourOnly {
		b = append(b, `,"date":"`...)
		b = appendDay(b, r.day)
		b = append(b, '"')
	}
	return append(b, '}')
}

func appendDay(b []byte, d schema.Day) []byte {
	return time.Unix(int64(d)*86400, 0).UTC().AppendFormat(b, time.DateOnly)
}

func pointers(rows []row) []*figures {
	out := make([]*figures, len(rows))
	for i := range rows {
		out[i] = &rows[i].figures
	}
	return out
}
