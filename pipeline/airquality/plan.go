package airquality

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/schema"
)

// chunk is what one pass computes: the hours from and to, both included, of
// some stations. It never spans more than a month and a day of readings, which
// bounds the memory of a pass whatever the length of a backfill.
type chunk struct {
	from, to time.Time
	stations []string
}

// parameters binds the chunk to the statements' parameters.
func (c chunk) parameters(ctx context.Context) context.Context {
	var list strings.Builder
	list.WriteByte('[')
	for i, s := range c.stations {
		if i > 0 {
			list.WriteByte(',')
		}
		list.WriteByte('\'')
		list.WriteString(strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s))
		list.WriteByte('\'')
	}
	list.WriteByte(']')
	const second = "2006-01-02 15:04:05"
	return clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{
		"from": c.from.UTC().Format(second), "to": c.to.UTC().Format(second), "stations": list.String(),
	}))
}

// stationChunk is how many stations one pass takes: their names are part of
// the request, and servers bound its length (http_max_uri_size, 1 MiB).
const stationChunk = 2000

// since plans what readings stored after the last roll-up can have changed.
func (r *Rollup) since(ctx context.Context) ([]chunk, error) {
	const changed = `
		SELECT station, min(at - if(averaging > 60 AND averaging < 1440, (averaging - 60) * 60, 0)), max(at)
		FROM %[1]s.reading
		WHERE ingested_at > (SELECT max(started) FROM %[1]s.rollup) - INTERVAL %[2]d SECOND
		GROUP BY toYYYYMM(at) AS month, station
		ORDER BY month, station`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(changed, r.database, int(overlap.Seconds())))
	if err != nil {
		return nil, fmt.Errorf("looking for new readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var plan []chunk
	spans := make(map[[2]time.Time]int) // stations that changed over the same hours share a pass
	for rows.Next() {
		var (
			station     string
			first, last time.Time
		)
		if err := rows.Scan(&station, &first, &last); err != nil {
			return nil, fmt.Errorf("looking for new readings: %w", err)
		}
		key := [2]time.Time{schema.HourEnd(first), schema.HourEnd(last).Add(reach)}
		i, ok := spans[key]
		if !ok {
			i = len(plan)
			spans[key] = i
			plan = append(plan, chunk{from: key[0], to: key[1]})
		}
		plan[i].stations = append(plan[i].stations, station)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("looking for new readings: %w", err)
	}
	return split(join(plan)), nil
}

// maxPasses is beyond how many different spans a month's are joined into one:
// a pass has a fixed cost that outweighs hours computed in vain.
const maxPasses = 4

// join gives stations of one month one common span when their spans differ
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
			if c.from.Before(all.from) {
				all.from = c.from
			}
			if c.to.After(all.to) {
				all.to = c.to
			}
			all.stations = append(all.stations, c.stations...)
		}
		out = append(out, all)
	}
	return out
}

func sameMonth(a, b time.Time) bool { return a.Year() == b.Year() && a.Month() == b.Month() }

// split cuts chunks that hold too many stations for one request. A city whose
// stations fall into two parts is computed after both by the second.
func split(plan []chunk) []chunk {
	var out []chunk
	for _, c := range plan {
		for len(c.stations) > stationChunk {
			out = append(out, chunk{c.from, c.to, c.stations[:stationChunk]})
			c.stations = c.stations[stationChunk:]
		}
		out = append(out, c)
	}
	return out
}

// between plans all hours of all stations that have readings, month by month.
func (r *Rollup) between(ctx context.Context, from, to time.Time) ([]chunk, error) {
	const present = `
		SELECT station, min(at), max(at) FROM %s.reading
		WHERE at > ? AND at <= ?
		GROUP BY toYYYYMM(at) AS month, station
		ORDER BY month, station`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(present, r.database), from, to)
	if err != nil {
		return nil, fmt.Errorf("looking for readings: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var plan []chunk
	for rows.Next() {
		var (
			station     string
			first, last time.Time
		)
		if err := rows.Scan(&station, &first, &last); err != nil {
			return nil, fmt.Errorf("looking for readings: %w", err)
		}
		first, last = schema.HourEnd(first), schema.HourEnd(last).Add(reach)
		if n := len(plan); n > 0 && sameMonth(plan[n-1].from, first) {
			c := &plan[n-1]
			if first.Before(c.from) {
				c.from = first
			}
			if last.After(c.to) {
				c.to = last
			}
			c.stations = append(c.stations, station)
			continue
		}
		plan = append(plan, chunk{first, last, []string{station}})
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("looking for readings: %w", err)
	}
	return split(plan), nil
}
