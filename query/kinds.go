package query

import (
	"strings"

	"vayu/schema"
)

// kindSet is a set of kinds of stations: bit k is set for kind k.
type kindSet uint8

func kindsOf(kinds ...schema.StationKind) kindSet {
	var set kindSet
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// defaultKinds count in an answer unless the query names others. City mean series
// replace missing reference stations.
var defaultKinds = kindsOf(schema.Reference, schema.CityMean)

func (s kindSet) has(k schema.StationKind) bool { return s&(1<<k) != 0 }

// names returns the names of the kinds in the set, as a query has them.
func (s kindSet) names() []string {
	var out []string
	for _, k := range [...]schema.StationKind{schema.Reference, schema.Sensor} {
		if s.has(k) {
			out = append(out, k.String())
		}
	}
	return out
}

// named returns the names for a reply; nil for the empty set.
func (s kindSet) named() []string {
	if s == 0 {
		return nil
	}
	return s.names()
}

// appendTo adds the set to the end of a JSON object as the field kinds. The empty set
// adds nothing.
func (s kindSet) appendTo(b []byte) []byte {
	if s == 0 {
		return b
	}
	b = append(b[:len(b)-1], `,"kinds":["`...)
	b = append(b, strings.Join(s.names(), `","`)...)
	return append(b, `"]}`...)
}
