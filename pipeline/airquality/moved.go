package airquality

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// moved plans the cities of stations that changed place, or came to count
// otherwise, after an instant: the city that a station left and the one that it
// is in, for all hours that the station has. The stations' own figures stay.
func (r *Rollup) moved(ctx context.Context, since time.Time) ([]chunk, error) {
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
		return nil, fmt.Errorf("looking for stations that changed place: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var chunks []chunk
	for rows.Next() {
		var (
			c       = chunk{placesOnly: true}
			station string
			left    []string
		)
		if err := rows.Scan(&station, &left, &c.from, &c.to); err != nil {
			return nil, fmt.Errorf("looking for stations that changed place: %w", err)
		}
		c.stations = []string{station}
		for _, before := range left {
			city, state, _ := strings.Cut(before, "\t")
			c.cities = append(c.cities, [2]string{city, state})
		}
		chunks = append(chunks, c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("looking for stations that changed place: %w", err)
	}
	return chunks, nil
}
