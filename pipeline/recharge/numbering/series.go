package numbering

import (
	_ "embed" // series.csv
	"strings"
	"sync"
)

//go:embed series.csv
var seriesCSV string

type subscriber struct{ operator, circle string }

// seriesTable has the operator to which each series was first assigned. The key is the first four
// digits of the numbers, or the first five where four are ambiguous.
var seriesTable = sync.OnceValue(func() map[string]subscriber {
	names := make(map[string]string, len(circles))
	for _, c := range circles {
		names[c.code] = c.name
	}
	table := make(map[string]subscriber)
	for line := range strings.Lines(seriesCSV) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if len(fields) != 3 || strings.HasPrefix(line, "#") {
			continue
		}
		for series := range strings.FieldsSeq(fields[2]) {
			table[series] = subscriber{operator: fields[0], circle: names[fields[1]]}
		}
	}
	return table
})

// Series returns the operator and circle that the series of a ten-digit mobile number was assigned
// to. The names are canonical. For a merged operator it returns the successor. The circle is "" if
// it is unknown.
//
// The result has a low confidence. Numbers have been portable within a circle since 2011 and across
// India since 2015, and series have been reassigned. The table is collected from publications of
// the Department of Telecommunications (see series.csv). ok is false for an unassigned series, and
// for a series of an operator that closed without a successor.
func Series(mobile string) (operator, circle string, ok bool) {
	if len(mobile) != 10 {
		return "", "", false
	}
	table := seriesTable()
	for _, n := range []int{5, 4} {
		if s, found := table[mobile[:n]]; found {
			return s.operator, s.circle, s.operator != ""
		}
	}
	return "", "", false
}
