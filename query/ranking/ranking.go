package ranking

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vayu/internal/httpapi"
	"vayu/query/aggregate"
	"vayu/query/places"
	"vayu/query/snapshot"
	"vayu/query/station"
	"vayu/schema"
	"vayu/schema/air"
	"vayu/schema/naqi"
	"vayu/schema/views"
)

// figure has the value of a city in the period of a ranking, and how much of the period has data (the coverage).
type figure struct {
	city            places.City
	value           float64
	stations        uint32
	count, expected uint32 // hours, days or stations with data, and how many there could be
	fresh           bool   // only in a ranking of current figures: the figures are not stale
}

// capture returns the coverage of a city, 0 to 1: the stations, hours or days with data as a share of those expected.
func (f *figure) capture() float64 { return float64(f.count) / float64(max(f.expected, 1)) }

// Answer returns a page of the ranking. It queries the tables, unless the ranking is of current figures. The error is
// a *schema.Problem if a parameter of the page is invalid.
func (r *Request) Answer(ctx context.Context, t aggregate.Tables, s *snapshot.Snapshot, now time.Time) (resp httpapi.Response, err error) {
	ctx, cancel := context.WithTimeout(ctx, aggregate.QueryTimeout)
	defer cancel()
	counted, all := r.counted(), currentFigures(s, now)
	if !r.Now() {
		if all, err = r.read(ctx, t, now); err != nil {
			return resp, aggregate.Unavailable(fmt.Errorf("reading the ranking of a %s: %w", r.period, err))
		}
	}
	entries, unranked := r.rank(s, all)
	from, to, next, err := station.PageRange(r.params, r.list(), len(entries), func(i int) string {
		return fmt.Sprintf("%06d%s", entries[i].Rank, entries[i].City)
	})
	if err != nil {
		return resp, err
	}
	reply := air.RankingReply{
		Status: schema.Success, Period: r.period, Parameter: r.parameter, Unit: r.unit, Counted: counted,
		Data: entries[from:to], Unranked: unranked, HasMore: next != nil, NextCursor: next,
	}
	if !r.Now() {
		reply.From, reply.To = r.first.String(), r.last.String()
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return resp, fmt.Errorf("rendering a ranking: %w", err)
	}
	return httpapi.Ready(body, time.Time{}), nil
}

// counted returns the unit of the coverage: stations, hours or days.
func (r *Request) counted() string {
	switch {
	case r.Now():
		return "stations"
	case r.period == daily || r.parameter != index:
		return "hours"
	}
	return "days"
}

// rank returns the entries of the ranked cities, in order, and the number of the other cities. A city is ranked if its
// coverage is sufficient or, for current figures, if they are fresh. Equal values have the same rank. If r.state is
// set, both results are about its cities only, but ranks are among all cities. rank omits cities that `s` lacks.
func (r *Request) rank(s *snapshot.Snapshot, all []figure) (entries []air.RankingEntry, unranked int) {
	labels := make(map[places.City]string, len(s.Cities))
	for i := range s.Cities {
		labels[s.Cities[i].City] = s.Index.Label(i)
	}
	entries = []air.RankingEntry{}
	for i := range all {
		f := &all[i]
		label, known := labels[f.city]
		wanted := r.state == "" || air.CleanState(f.city.State) == r.state
		switch {
		case !known:
		case f.capture() < views.Capture && !r.Now() || r.Now() && !f.fresh:
			if wanted {
				unranked++
			}
		default:
			entries = append(entries, r.entry(f, label))
		}
	}
	slices.SortFunc(entries, func(a, b air.RankingEntry) int {
		order := cmp.Compare(b.Value, a.Value)
		if r.lowest {
			order = -order
		}
		return cmp.Or(order, strings.Compare(a.City, b.City))
	})
	for i := range entries {
		entries[i].Rank = i + 1
		if i > 0 && entries[i].Value == entries[i-1].Value {
			entries[i].Rank = entries[i-1].Rank
		}
	}
	if r.state != "" { // the rank stays that among all cities
		entries = slices.DeleteFunc(entries, func(e air.RankingEntry) bool { return air.CleanState(e.State) != r.state })
	}
	return entries, unranked
}

func (r *Request) entry(f *figure, label string) air.RankingEntry {
	e := air.RankingEntry{
		City: label, State: f.city.State, Value: round(f.value, 10), Stations: int(f.stations),
		Coverage: air.RankingCoverage{Count: int(f.count), Expected: int(f.expected), Capture: round(min(f.capture(), 1), 1000)},
	}
	if r.parameter == index {
		category := naqi.Category(int(math.Floor(e.Value + 0.5)))
		e.Category = &category
	}
	return e
}

// round rounds v to a multiple of 1/fraction.
func round(v, fraction float64) float64 { return math.Round(v*fraction) / fraction }

// currentFigures returns the current figures of the cities of a snapshot that have an AQI.
func currentFigures(s *snapshot.Snapshot, now time.Time) []figure {
	var all []figure
	for i := range s.Cities {
		c := &s.Cities[i]
		if c.AQI < 0 {
			continue
		}
		all = append(all, figure{
			city: c.City, value: float64(c.AQI), stations: uint32(c.Used), count: uint32(c.Used), expected: uint32(c.Total),
			fresh: !c.Stale(now),
		})
	}
	return all
}
