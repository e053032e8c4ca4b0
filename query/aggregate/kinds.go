package aggregate

import (
	"strings"

	"vayu/schema/air"
)

// KindSet is a set of kinds of stations. Bit k is set if the set includes kind k.
type KindSet uint8

// KindsOf returns the set of the given kinds.
func KindsOf(kinds ...air.StationKind) KindSet {
	var set KindSet
	for _, k := range kinds {
		set |= 1 << k
	}
	return set
}

// DefaultKinds are the kinds of stations that count in an answer if the query names no kinds. They include city mean
// series, which replace missing reference stations.
var DefaultKinds = KindsOf(air.Reference, air.CityMean)

// Has reports whether the set includes a kind.
func (s KindSet) Has(k air.StationKind) bool { return s&(1<<k) != 0 }

// names returns the names of the kinds in the set that the query parameter "kinds" accepts: reference and sensor.
func (s KindSet) names() []string {
	var out []string
	for _, k := range [...]air.StationKind{air.Reference, air.Sensor} {
		if s.Has(k) {
			out = append(out, k.String())
		}
	}
	return out
}

// Named returns the names of the kinds for a reply. It returns nil for the empty set.
func (s KindSet) Named() []string {
	if s == 0 {
		return nil
	}
	return s.names()
}

// AppendTo adds the set as the field "kinds" to the JSON object in b. It adds nothing for the empty
// set.
func (s KindSet) AppendTo(b []byte) []byte {
	if s == 0 {
		return b
	}
	b = append(b[:len(b)-1], `,"kinds":["`...)
	b = append(b, strings.Join(s.names(), `","`)...)
	return append(b, `"]}`...)
}
