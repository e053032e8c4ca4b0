package airquality

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vayu/internal/columnstore"
)

// relocations returns the chunks to recompute for stations whose city, alias or physical station changed after the time
// `since`. The chunks cover the old and the new cities, from the first to the last hour of these stations. The rows of
// the stations themselves do not change.
func (r *Rollup) relocations(ctx context.Context, since time.Time) ([]chunk, error) {
	const query = `
		SELECT change.station, groupUniqArrayIf(change.before, change.field = 'city' AND change.before != ''), min(hours.at), max(hours.at)
		FROM %[1]s.station_change AS change
		INNER JOIN %[1]s.station_hour AS hours ON hours.station = change.station
		WHERE change.at > fromUnixTimestamp64Milli(?) AND change.field IN ('city', 'same_as', 'alias')
			AND hours.station IN (SELECT station FROM %[1]s.station_change WHERE at > fromUnixTimestamp64Milli(?))
		GROUP BY change.station
		ORDER BY change.station`
	rows, err := r.conn.Query(ctx, fmt.Sprintf(query, r.tables.Database), since.UnixMilli(), since.UnixMilli())
	if err != nil {
		return nil, fmt.Errorf("reading relocated stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var (
		all  chunk
		seen = make(map[[2]string]bool)
	)
	for rows.Next() {
		var (
			station     string
			left        []string
			first, last time.Time
		)
		if err := rows.Scan(&station, &left, &first, &last); err != nil {
			return nil, fmt.Errorf("reading relocated stations: %w", err)
		}
		if len(all.stations) == 0 {
			all.from, all.to = first, last
		}
		all.widen(first, last)
		all.stations = append(all.stations, station)
		for _, before := range left {
			name, state, _ := strings.Cut(before, "\t")
			if city := [2]string{name, state}; !seen[city] {
				seen[city] = true
				all.cities = append(all.cities, city)
			}
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading relocated stations: %w", err)
	}
	if len(all.stations) == 0 {
		return nil, nil
	}
	// A chunk covers at most one year, to limit memory. In a year, all stations together have 4.4 million hours.
	var chunks []chunk
	for part := range columnstore.NameGroups(all.stations) {
		for from := all.from; !from.After(all.to); from = from.AddDate(1, 0, 0) {
			chunks = append(chunks, chunk{stations: part, cities: all.cities, citiesOnly: true, from: from, to: from.AddDate(1, 0, 0)})
		}
	}
	return chunks, nil
}
