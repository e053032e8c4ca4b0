package history

import (
	"slices"
	"time"

	"vayu/query/rollup"
	"vayu/schema"
)

// row holds the figures of a place on an Indian day or, if day is hourOnly, in an
// hour.
type row struct {
	day schema.Day
	rollup.Figures
}

// hourOnly, which is no valid day, marks a row that holds an hour.
const hourOnly = notDirty

// Span is a range of days, both included.
type Span struct{ First, Last schema.Day }

func find(days []row, d schema.Day) (int, bool) {
	return slices.BinarySearchFunc(days, d, func(e row, d schema.Day) int { return int(e.day) - int(d) })
}

// between returns the rows of these days. rows are sorted by day.
func between(rows []row, days Span) []row {
	i, _ := find(rows, days.First)
	j, _ := find(rows, days.Last+1)
	return rows[i:j]
}

// append appends the row as a record.
func (r *row) append(b []byte, label string) []byte {
	record := r.Record(label)
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

func pointers(rows []row) []*rollup.Figures {
	out := make([]*rollup.Figures, len(rows))
	for i := range rows {
		out[i] = &rows[i].Figures
	}
	return out
}
