package table

import (
	"maps"
	"slices"
	"time"

	"vayu/schema/air"
)

// Spacings finds the length of the averaging intervals in a table whose rows have one time each. The length is the most
// frequent time between two rows of a station. So gaps in the data do not change it.
type Spacings struct {
	known map[string]*spacing
	all   map[time.Duration]int
}

// spacing counts how often each time between two rows of one station or sensor occurs.
type spacing struct {
	last   time.Time
	counts map[time.Duration]int
	length time.Duration // result; 0 until it is computed
}

// NewSpacings returns a Spacings without counted rows.
func NewSpacings() Spacings {
	return Spacings{known: make(map[string]*spacing), all: make(map[time.Duration]int)}
}

// Len returns the number of stations.
func (t *Spacings) Len() int { return len(t.known) }

// Has reports whether Note was called for a station.
func (t *Spacings) Has(station []byte) bool { return t.known[string(station)] != nil }

// Note counts the time from the station's previous row to a row with the time `at`, if it is above 0 and at most a day.
func (t *Spacings) Note(station []byte, at time.Time) {
	s := t.known[string(station)]
	if s == nil {
		s = &spacing{counts: make(map[time.Duration]int)}
		t.known[string(station)] = s
	} else if d := at.Sub(s.last); d > 0 && d <= time.Duration(air.Daily)*time.Minute {
		s.counts[d]++
		t.all[d]++
	}
	s.last = at
}

// Own returns the interval length that a station's own rows show, or 0 if Note has counted no time for the station.
func (t *Spacings) Own(station []byte) time.Duration {
	s := t.known[string(station)]
	if s == nil {
		return 0
	}
	if s.length == 0 {
		s.length = commonest(s.counts)
	}
	return s.length
}

// Of returns the interval length of a station. If the station's own rows do not show it, Of returns the interval length
// of the whole table. It returns 0 if the station is unknown, or if Note has counted no time.
func (t *Spacings) Of(station []byte) time.Duration {
	s := t.known[string(station)]
	if s == nil {
		return 0
	}
	if s.length == 0 {
		if s.length = commonest(s.counts); s.length == 0 {
			s.length = commonest(t.all)
		}
	}
	return s.length
}

// commonest returns the most frequent duration. If two are equally frequent, it returns the shorter one.
func commonest(counts map[time.Duration]int) time.Duration {
	var best time.Duration
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		if counts[d] > counts[best] {
			best = d
		}
	}
	return best
}

// Minutes converts a duration to minutes. It returns false for less than a minute and for more than a day.
func Minutes(d time.Duration) (uint16, bool) {
	if d < time.Minute || d > time.Duration(air.Daily)*time.Minute {
		return 0, false
	}
	return uint16(d / time.Minute), true
}
