package file

import (
	"maps"
	"slices"
	"time"

	"vayu/schema"
)

// spacings tells how long the intervals of a table are that gives one time a
// row: the distance at which the rows of a station most often follow one
// another. A hole in the data changes nothing.
type spacings struct {
	known map[string]*spacing
	all   map[time.Duration]int
}

// spacing counts the distances of the rows of one station or sensor.
type spacing struct {
	last   time.Time
	counts map[time.Duration]int
	length time.Duration // 0 until it is decided
}

func newSpacings() spacings {
	return spacings{known: make(map[string]*spacing), all: make(map[time.Duration]int)}
}

// note counts the time of a row of a station.
func (t *spacings) note(station []byte, at time.Time) {
	s := t.known[string(station)]
	if s == nil {
		s = &spacing{counts: make(map[time.Duration]int)}
		t.known[string(station)] = s
	} else if d := at.Sub(s.last); d > 0 && d <= time.Duration(schema.Daily)*time.Minute {
		s.counts[d]++
		t.all[d]++
	}
	s.last = at
}

// own returns the length of the intervals of a station from its own rows, 0 for
// one that has a single row.
func (t *spacings) own(station []byte) time.Duration {
	s := t.known[string(station)]
	if s == nil {
		return 0
	}
	if s.length == 0 {
		s.length = commonest(s.counts)
	}
	return s.length
}

// of returns the length of the intervals of a station, 0 when nothing tells it.
// For a station with a single row it is that of the whole table.
func (t *spacings) of(station []byte) time.Duration {
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

// commonest returns the distance that was counted most, the shorter of two.
func commonest(counts map[time.Duration]int) time.Duration {
	var best time.Duration
	for _, d := range slices.Sorted(maps.Keys(counts)) {
		if counts[d] > counts[best] {
			best = d
		}
	}
	return best
}
