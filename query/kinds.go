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

// parseKinds parses a list of kinds such as "reference,sensor".
func parseKinds(name, value string) (kindSet, error) {
	var set kindSet
	for word := range strings.SplitSeq(value, ",") {
		switch word {
		case schema.Reference.String():
			set |= defaultKinds
		case schema.Sensor.String():
			set |= kindsOf(schema.Sensor)
		default:
			return 0, invalid(name, "The kinds are reference and sensor, separated by a comma.")
		}
	}
	return set, nil
}

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

// append appends a comma and the set as the JSON field kinds.
func (s kindSet) append(b []byte) []byte {
	b = append(b, `,"kinds":["`...)
	b = append(b, strings.Join(s.names(), `","`)...)
	return append(b, `"]`...)
}

// namesKinds reports whether the query names kinds other than the default ones. If
// it names those, the service has set kinds to 0.
func (q *aqiQuery) namesKinds() bool { return q.kinds != 0 }

// kindsFor returns the kinds that count in the answer to a query.
func (s *Snapshot) kindsFor(q *aqiQuery) kindSet {
	if q.namesKinds() {
		return q.kinds
	}
	return s.kinds
}
