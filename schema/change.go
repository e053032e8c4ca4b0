package schema

import (
	"sort"
	"time"
)

// Span is the hours From to To, both included and both ends of Indian clock
// hours in UTC (see [HourEnd]).
type Span struct{ From, To time.Time }

// Changes says which hours of which stations have readings that were not there
// before: what a roll-up has to look at. The zero value is ready to use; it is
// not safe for use by several goroutines.
type Changes struct {
	spans map[string][]hourSpan
}

// hourSpan counts hours since 1970 as seen from an Indian clock; both included.
type hourSpan struct{ from, to int32 }

// joinHours is how far apart two spans may lie to be kept as one: a change
// reaches 23 hours forward anyway.
const joinHours = 24

// Add records that a station has a new reading whose interval ends at t.
func (c *Changes) Add(station string, at time.Time) {
	c.addSpan(station, hourSpan{hourNumber(at), hourNumber(at)})
}

// AddSpan records that a station has new readings from one instant to another,
// both included.
func (c *Changes) AddSpan(station string, from, to time.Time) {
	c.addSpan(station, hourSpan{hourNumber(from), hourNumber(to)})
}

func (c *Changes) addSpan(station string, h hourSpan) {
	if c.spans == nil {
		c.spans = make(map[string][]hourSpan)
	}
	spans := c.spans[station]
	if n := len(spans); n > 0 {
		last := &spans[n-1]
		if h.from >= last.from-joinHours && h.from <= last.to+joinHours {
			last.from = min(last.from, h.from)
			last.to = max(last.to, h.to)
			return
		}
	}
	c.spans[station] = append(spans, h)
}

// Merge adds all of other to c.
func (c *Changes) Merge(other Changes) {
	for station, spans := range other.spans {
		for _, h := range spans {
			c.addSpan(station, h)
		}
	}
}

// Len returns the number of stations that changed.
func (c *Changes) Len() int { return len(c.spans) }

// Stations returns the stations that changed, sorted.
func (c *Changes) Stations() []string {
	names := make([]string, 0, len(c.spans))
	for station := range c.spans {
		names = append(names, station)
	}
	sort.Strings(names)
	return names
}

// Spans returns the changed hours of a station as the fewest spans, in order of
// time.
func (c *Changes) Spans(station string) []Span {
	spans := append([]hourSpan(nil), c.spans[station]...)
	sort.Slice(spans, func(i, j int) bool { return spans[i].from < spans[j].from })
	out := make([]Span, 0, len(spans))
	for _, h := range spans {
		from, to := hourTime(h.from), hourTime(h.to)
		if n := len(out); n > 0 && !from.After(out[n-1].To.Add(joinHours*time.Hour)) {
			if to.After(out[n-1].To) {
				out[n-1].To = to
			}
			continue
		}
		out = append(out, Span{from, to})
	}
	return out
}

func hourNumber(t time.Time) int32 {
	return int32((HourEnd(t).Unix() + int64(IndiaOffset/time.Second)) / 3600)
}

func hourTime(n int32) time.Time {
	return time.Unix(int64(n)*3600-int64(IndiaOffset/time.Second), 0).UTC()
}
