package history

import (
	"slices"

	"vayu/query/aggregate"
	"vayu/schema"
)

// row has the figures of a place on one Indian day, or in one hour if `day` is hourOnly.
type row struct {
	day schema.Day
	aggregate.Figures
}

// hourOnly marks a row that holds an hour. It is not a valid day.
const hourOnly = notDirty

func find(days []row, d schema.Day) (int, bool) {
	return slices.BinarySearchFunc(days, d, func(e row, d schema.Day) int { return int(e.day) - int(d) })
}

// between returns the rows of the given days. The rows must be sorted by day.
func between(rows []row, days Span) []row {
	i, _ := find(rows, days.First)
	j, _ := find(rows, days.Last+1)
	return rows[i:j]
}

func pointers(rows []row) []*aggregate.Figures {
	out := make([]*aggregate.Figures, len(rows))
	for i := range rows {
		out[i] = &rows[i].Figures
	}
	return out
}
