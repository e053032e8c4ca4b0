package airquality

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/pipeline/airquality/quality"
	"vayu/schema/statement"
)

// chunk is the work of one pass of a roll-up. A pass runs the statements of all steps once. The chunk covers the hours
// `from` to `to` (both included) of some stations. [merge] limits the readings of a chunk, and thus the memory of a
// pass in a long backfill.
type chunk struct {
	from, to time.Time
	stations []string // sorted if `between` is true
	// `between` makes the pass select its stations by a range of ids, from the first to the last of `stations`. The
	// pass then also computes the other stations in this range. It is the result of [Rollup.isDense].
	between bool
	// cities are the cities (name and state) that relocated stations have left. The pass computes the rows of these
	// cities in addition to the rows of the stations' current cities.
	cities [][2]string
	// citiesOnly means that the pass skips the rows of stations, because only the rows of cities change.
	citiesOnly bool
	// meansOnly means that the pass skips the indices, because only plain means (of one hour or day) are missing.
	meansOnly bool

	readings uint64 // readings that the plan selected
	months   int    // calendar months that the chunk spans
	filled   int    // pairs of a station and a month that have selected readings
}

// parameters returns a context with the query parameters of the statements for the chunk. The rows that the pass writes
// get `started` as computed_at.
func (c chunk) parameters(ctx context.Context, started time.Time, keep retention) context.Context {
	cities := make([]string, len(c.cities))
	for i, city := range c.cities {
		cities[i] = "(" + statement.Quote(city[0]) + "," + statement.Quote(city[1]) + ")"
	}
	parameters := clickhouse.Parameters{
		"from": c.from.UTC().Format(second), "to": c.to.UTC().Format(second),
		"computed": started.UTC().Format(second + ".000"),
		"readings": oldest(started, keep.readings), "hours": oldest(started, keep.hours),
		"cities": "[" + strings.Join(cities, ",") + "]",
	}
	if c.between {
		maps.Copy(parameters, c.ids().Parameters())
	} else {
		parameters["stations"] = "[" + statement.QuoteAll(c.stations) + "]"
	}
	return clickhouse.Context(ctx, clickhouse.WithParameters(parameters))
}

// retention is how long readings and hourly rows are kept; 0 means for ever.
type retention struct{ readings, hours time.Duration }

// oldest returns the time of the oldest row whose input is still completely stored. `keep` is how long the input
// (readings or hourly rows) is kept; 0 means for ever. The input may be up to two days older than the row, because of
// rolling means and Indian days.
func oldest(now time.Time, keep time.Duration) string {
	if keep == 0 {
		return time.Unix(0, 0).UTC().Format(second)
	}
	return now.Add(-keep).Add(48 * time.Hour).UTC().Format(second)
}

// ids returns the range of the chunk's station ids, for a chunk whose field `between` is set.
func (c *chunk) ids() quality.Range {
	return quality.Range{First: c.stations[0], Last: c.stations[len(c.stations)-1]}
}

const second = "2006-01-02 15:04:05"

func (c *chunk) add(station string, readings uint64) {
	c.stations = append(c.stations, station)
	c.readings += readings
}

func (c *chunk) widen(from, to time.Time) {
	if from.Before(c.from) {
		c.from = from
	}
	if to.After(c.to) {
		c.to = to
	}
}

func (c *chunk) include(other chunk) {
	c.widen(other.from, other.to)
	c.stations = append(c.stations, other.stations...)
	c.readings += other.readings
}

// maxPasses is the maximum number of chunks of a calendar month, each with a pass of its own. A pass takes at least a
// fifth of a second, however small its chunk is.
const maxPasses = 4

// joinSpans joins all chunks of a month into one if the month has more than maxPasses chunks. The joined chunk covers
// the hours of all these chunks.
func joinSpans(chunks []chunk) []chunk {
	var out []chunk
	for len(chunks) > 0 {
		n := 1
		for n < len(chunks) && sameMonth(chunks[n].from, chunks[0].from) {
			n++
		}
		month := chunks[:n]
		chunks = chunks[n:]
		if n <= maxPasses {
			out = append(out, month...)
			continue
		}
		all := month[0]
		for _, c := range month[1:] {
			all.include(c)
		}
		out = append(out, all)
	}
	return out
}

func sameMonth(a, b time.Time) bool { return a.Year() == b.Year() && a.Month() == b.Month() }

// maxReadings limits the readings of a merged chunk, and thus the memory of its pass. All stations in India together
// have about so many readings in a month. A pass over them needs 1.2 GB.
const maxReadings = 4_000_000

// merge joins chunks of the same month or of successive months. A joined chunk has at most maxReadings readings. Its
// pass computes every month of the chunk for every station of the chunk. Therefore merge joins chunks only if the plan
// selected readings for at least half of these pairs of month and station.
func merge(chunks []chunk) []chunk {
	var out []chunk
	for _, c := range chunks {
		c.filled = len(c.stations)
		if len(out) > 0 {
			last := &out[len(out)-1]
			all := last.with(c.stations)
			months := last.months
			if !sameMonth(last.lastReading(), c.from) {
				months++
			}
			successive := c.from.Before(last.to.AddDate(0, 1, 0))
			if successive && last.readings+c.readings <= maxReadings && 2*(last.filled+c.filled) >= len(all)*months {
				stations := all
				last.include(c)
				last.stations, last.months, last.filled = stations, months, last.filled+c.filled
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// firstReading returns the earliest time of a reading in the chunk's first hour, which ends at `from`. The added second
// excludes the end of the hour before, which may be in another partition of the table.
func (c *chunk) firstReading() time.Time { return c.from.Add(time.Second - time.Hour) }

// lastReading returns the end of the last hour whose readings the plan selected. The chunk also has the later hours
// that these readings affect (see reach).
func (c *chunk) lastReading() time.Time { return c.to.Add(-reach) }

// with returns the stations of the chunk and the stations `others` as one list, sorted and without duplicates.
func (c *chunk) with(others []string) []string {
	all := slices.Concat(c.stations, others)
	slices.Sort(all)
	return slices.Compact(all)
}

// A chunk with at least minBetween stations may select them by a range of ids instead of a list (see isDense). Such a
// chunk has at most maxBetween stations, because a pass over so many stations and 31 hours needs about 1 GB of memory.
const (
	minBetween = 5_000
	maxBetween = 50_000
)

// split splits chunks that have too many stations for one statement. If several parts have stations of the same city,
// each part computes the city. The last part writes the correct result, because by then all stations of the city are
// computed.
func split(chunks []chunk) []chunk {
	var out []chunk
	for _, c := range chunks {
		parts := columnstore.NameGroups(c.stations)
		if c.between {
			parts = slices.Chunk(c.stations, maxBetween)
		}
		for part := range parts {
			out = append(out, chunk{from: c.from, to: c.to, stations: part, between: c.between})
		}
	}
	return out
}
