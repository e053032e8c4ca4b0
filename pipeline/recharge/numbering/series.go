package numbering

import (
	_ "embed" // series.csv
	"strings"
	"sync"
)

//go:embed series.csv
var seriesCSV string

type subscriber struct{ operator, circle string }

// holders is who a series was given to, by its first four or five digits; five are
// only there where they differ within four.
var holders = sync.OnceValue(func() map[string]subscriber {
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

// Series says whom the series of a mobile number, ten digits, was given to: the
// canonical name of the operator, or of the one that has taken over its customers,
// and of the circle, which is empty where it is not known.
//
// That is a guess of low confidence. Numbers have been portable within a circle
// since 2011 and across India since 2015, series have been given to somebody else,
// and the table is collected from what the Department of Telecommunications has
// published over the years (see series.csv). It is not ok for a series that was not
// given to anybody, or to an operator that has closed and whose customers went
// wherever they liked.
func Series(mobile string) (operator, circle string, ok bool) {
	if len(mobile) != 10 {
		return "", "", false
	}
	table := holders()
	for _, n := range []int{5, 4} {
		if s, found := table[mobile[:n]]; found {
			return s.operator, s.circle, s.operator != ""
		}
	}
	return "", "", false
}
