package airquality

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// chunk is what one pass computes: the hours from and to, both included, of
// some stations. Its readings are bounded, and with them the memory of a pass
// whatever the length of a backfill.
type chunk struct {
	from, to time.Time
	stations []string
	cities   [][2]string // name and state of cities that are computed beside those of the stations

	readings uint64 // selected readings in it
	months   int    // calendar months it spans
	filled   int    // pairs of a station and a month that have selected readings
}

// parameters binds the chunk to the statements' parameters.
func (c chunk) parameters(ctx context.Context) context.Context {
	quote := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
	stations, cities := make([]string, len(c.stations)), make([]string, len(c.cities))
	for i, s := range c.stations {
		stations[i] = quote(s)
	}
	for i, city := range c.cities {
		cities[i] = "(" + quote(city[0]) + "," + quote(city[1]) + ")"
	}
	const second = "2006-01-02 15:04:05"
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{
		"from": c.from.UTC().Format(second), "to": c.to.UTC().Format(second), "stations": "[" + strings.Join(stations, ",") + "]",
		"cities": "[" + strings.Join(cities, ",") + "]",
	}))
}

// stationChunk is how many stations one pass takes: their names are part of
// the request, and servers bound its length (http_max_uri_size, 1 MiB).
const stationChunk = 2000

// since plans what readings stored after the last roll-up can have changed.
func (r *Rollup) since(ctx context.Context) ([]chunk, error) {
	// A clock that was set back must not hide what is stored from now on.
	const stored = `ingested_at > (SELECT max(started) FROM %s.rollup WHERE started <= now64(3)) - INTERVAL %d SECOND`
	return r.plan(ctx, fmt.Sprintf(stored, r.database, int(overlap.Seconds())))
}

// between plans all hours of all stations that have readings from one instant
// to another.
func (r *Rollup) between(ctx context.Context, from, to time.Time) ([]chunk, error) {
	return r.plan(ctx, "at > ? AND at <= ?", from, to)
}

// plan looks for the readings that a condition selects and plans the hours that
// they are part of, in order of time.
func (r *Rollup) plan(ctx context.Context, condition string, args ...any) ([]chunk, error) {
	const selected = `
		SELECT station, min(at - if(averaging > 60 AND averaging < 1440, (intDiv(averaging + 59, 60) - 1) * 3600, 0)), max(at), count()
		FROM %s.reading
		WHERE %s
		GROUP BY toYYYYMM(at) AS month, station
		ORDER BY month, station`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(selected, r.database, condition), args...)
	if err != nil {
		return nil, fmt.Errorf("looking for readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var plan []chunk
	spans := make(map[[2]time.Time]int) // stations with the same hours share a pass
	for rows.Next() {
		var (
			station     string
			first, last time.Time
			readings    uint64
		)
		if err := rows.Scan(&station, &first, &last, &readings); err != nil {
			return nil, fmt.Errorf("looking for readings: %w", err)
		}
		key := [2]time.Time{schema.HourEnd(first), schema.HourEnd(last).Add(reach)}
		i, ok := spans[key]
		if !ok {
			i = len(plan)
			spans[key] = i
			plan = append(plan, chunk{from: key[0], to: key[1], months: 1})
		}
		plan[i].add(station, readings)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("looking for readings: %w", err)
	}
	return split(merge(join(plan))), nil
}

func (c *chunk) add(station string, readings uint64) {
	c.stations = append(c.stations, station)
	c.readings += readings
}

// span makes c reach over other's hours and stations.
func (c *chunk) span(other chunk) {
	if other.from.Before(c.from) {
		c.from = other.from
	}
	if other.to.After(c.to) {
		c.to = other.to
	}
	c.stations = append(c.stations, other.stations...)
	c.readings += other.readings
}

// maxPasses is beyond how many different spans a month's are joined into one:
// a pass costs a fifth of a second whatever it computes.
const maxPasses = 4

// join gives the stations of one month one common span when their spans differ
// too much to be computed one by one.
func join(plan []chunk) []chunk {
	var out []chunk
	for len(plan) > 0 {
		n := 1
		for n < len(plan) && sameMonth(plan[n].from, plan[0].from) {
			n++
		}
		month := plan[:n]
		plan = plan[n:]
		if n <= maxPasses {
			out = append(out, month...)
			continue
		}
		all := month[0]
		for _, c := range month[1:] {
			all.span(c)
		}
		out = append(out, all)
	}
	return out
}

func sameMonth(a, b time.Time) bool { return a.Year() == b.Year() && a.Month() == b.Month() }

// maxReadings bounds the readings of a pass, and with them its memory: about a
// month of all of India's stations, 1.2 GB.
const maxReadings = 4_000_000

// merge joins chunks of successive months, for as long as a pass stays small
// and at least half of what it computes has changed.
func merge(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		c.filled = len(c.stations)
		if len(out) > 0 {
			last := &out[len(out)-1]
			all := last.with(c.stations)
			months := last.months
			if !sameMonth(last.lastFrom(), c.from) {
				months++
			}
			successive := c.from.Before(last.to.AddDate(0, 1, 0))
			if successive && last.readings+c.readings <= maxReadings && 2*(last.filled+c.filled) >= len(all)*months {
				stations := all
				last.span(c)
				last.stations, last.months, last.filled = stations, months, last.filled+c.filled
				continue
			}
		}
		out = append(out, c)
	}
	return out
}

// lastFrom is an instant of the last month that the chunk has readings of.
func (c *chunk) lastFrom() time.Time { return c.to.Add(-reach) }

// with returns the chunk's stations and others, each once.
func (c *chunk) with(others []string) []string {
	all := slices.Concat(c.stations, others)
	slices.Sort(all)
	return slices.Compact(all)
}

// split cuts chunks that hold too many stations for one request. A city whose
// stations fall into two parts is computed after both by the second.
func split(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		for part := range slices.Chunk(c.stations, stationChunk) {
			out = append(out, chunk{from: c.from, to: c.to, stations: part})
		}
	}
	return out
}
