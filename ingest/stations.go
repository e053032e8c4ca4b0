package ingest

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnar"
	"vayu/schema"
)

// stationAge is how long the stations in memory are trusted: another process
// (an import beside the service) may write the table too.
const stationAge = 10 * time.Second

// movedKilometres is how far a station may be from where it was: networks
// correct coordinates by streets, while a jump of more than 5 km is another
// place under an old name or a slip of a digit.
const movedKilometres = 5

var stationColumns = []clickhouse.ColumnNameAndType{
	{Name: "id", Type: "String"},
	{Name: "source", Type: "String"},
	{Name: "name", Type: "String"},
	{Name: "city", Type: "String"},
	{Name: "state", Type: "String"},
	{Name: "latitude", Type: "Float64"},
	{Name: "longitude", Type: "Float64"},
	{Name: "kind", Type: "Int8"},
	{Name: "attribution", Type: "String"},
	{Name: "licence", Type: "String"},
	{Name: "first_seen", Type: "DateTime('UTC')"},
	{Name: "last_seen", Type: "DateTime('UTC')"},
}

const stationNames = "id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen"

// loadStations writes the stations whose row changes and returns how many new
// positions it refused. Memory follows once ClickHouse has the rows.
func (l *Loader) loadStations(ctx context.Context, described []schema.Station) (moved int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil || time.Since(l.loadedAt) > stationAge {
		known, err := l.readStations(ctx)
		if err != nil {
			return 0, err
		}
		l.known, l.loadedAt = known, time.Now()
	}
	var changed []schema.Station
	for _, s := range described {
		s.FirstSeen, s.LastSeen = wholeSecond(s.FirstSeen), wholeSecond(s.LastSeen)
		old, ok := l.known[s.ID]
		if !ok {
			changed = append(changed, s)
			continue
		}
		merged, jumped := mergeStation(old, s)
		if jumped {
			moved++
		}
		if merged != old {
			changed = append(changed, merged)
		}
	}
	if len(changed) == 0 {
		return moved, nil
	}
	if err := columnar.Insert(ctx, l.conn, l.database+".station", columnar.NewToken(), stationColumns, stationSlices(changed)); err != nil {
		return 0, fmt.Errorf("storing %d stations: %w", len(changed), err)
	}
	for _, s := range changed {
		l.known[s.ID] = s
	}
	return moved, nil
}

func (l *Loader) readStations(ctx context.Context) (map[string]schema.Station, error) {
	rows, err := l.conn.Query(ctx, "SELECT "+stationNames+" FROM "+l.database+".station FINAL")
	if err != nil {
		return nil, fmt.Errorf("reading the stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	known := make(map[string]schema.Station)
	for rows.Next() {
		var s schema.Station
		var kind int8
		if err := rows.Scan(&s.ID, &s.Source, &s.Name, &s.City, &s.State, &s.Latitude, &s.Longitude,
			&kind, &s.Attribution, &s.Licence, &s.FirstSeen, &s.LastSeen); err != nil {
			return nil, fmt.Errorf("reading a station: %w", err)
		}
		s.Kind = schema.StationKind(kind)
		s.FirstSeen, s.LastSeen = wholeSecond(s.FirstSeen), wholeSecond(s.LastSeen)
		known[s.ID] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the stations: %w", err)
	}
	return known, nil
}

// wholeSecond gives times the form in which the table keeps them, so that equal
// ones compare equal.
func wholeSecond(t time.Time) time.Time { return time.Unix(t.Unix(), 0).UTC() }

// mergeStation returns what is known of a station after one more description.
// Attributes come from whichever description has the newer readings, and what
// that one leaves empty from the other; see place for the city. jumped says that the described position
// was refused: then the known one stays.
func mergeStation(known, described schema.Station) (merged schema.Station, jumped bool) {
	newer, older := described, known
	if described.LastSeen.Before(known.LastSeen) {
		newer, older = known, described
	}
	city, state := place(newer, older)
	merged = schema.Station{
		ID:          known.ID,
		Source:      cmp.Or(newer.Source, older.Source),
		Name:        cmp.Or(newer.Name, older.Name),
		City:        city,
		State:       state,
		Kind:        cmp.Or(newer.Kind, older.Kind),
		Attribution: cmp.Or(newer.Attribution, older.Attribution),
		Licence:     cmp.Or(newer.Licence, older.Licence),
		FirstSeen:   known.FirstSeen,
		LastSeen:    newer.LastSeen,
	}
	if described.FirstSeen.Before(known.FirstSeen) {
		merged.FirstSeen = described.FirstSeen
	}
	from := newer
	switch {
	case !newer.Located():
		from = older
	case known.Located() && described.Located() && kilometres(known, described) > movedKilometres:
		from, jumped = known, true
	}
	merged.Latitude, merged.Longitude = from.Latitude, from.Longitude
	return merged, jumped
}

// place returns the city and state of a station. They belong together: several
// states have a city of one name, and a name without its state may be spelt in
// a way that cannot be recognised. So the newer description gives both, unless
// it lacks one of them and the older does not.
func place(newer, older schema.Station) (city, state string) {
	if older.State != "" && (newer.State == "" || newer.City == "" && older.City != "") {
		newer, older = older, newer
	}
	return cmp.Or(newer.City, older.City), cmp.Or(newer.State, older.State)
}

// kilometres is the distance of two stations on a sphere of the Earth's mean
// radius, 6,371 km, by the haversine formula.
func kilometres(a, b schema.Station) float64 {
	const radians = math.Pi / 180
	dLat, dLon := (b.Latitude-a.Latitude)*radians, (b.Longitude-a.Longitude)*radians
	h := math.Pow(math.Sin(dLat/2), 2) +
		math.Cos(a.Latitude*radians)*math.Cos(b.Latitude*radians)*math.Pow(math.Sin(dLon/2), 2)
	return 2 * 6371 * math.Asin(math.Sqrt(min(h, 1)))
}

// stationSlices turns rows into the columns of stationColumns.
func stationSlices(stations []schema.Station) []any {
	n := len(stations)
	text := func(field func(*schema.Station) string) []string {
		out := make([]string, n)
		for i := range stations {
			out[i] = field(&stations[i])
		}
		return out
	}
	latitude, longitude := make([]float64, n), make([]float64, n)
	kind, first, last := make([]int8, n), make([]int64, n), make([]int64, n)
	for i, s := range stations {
		latitude[i], longitude[i] = s.Latitude, s.Longitude
		kind[i] = int8(cmp.Or(s.Kind, schema.Reference))
		first[i], last[i] = s.FirstSeen.Unix(), s.LastSeen.Unix()
	}
	return []any{
		text(func(s *schema.Station) string { return s.ID }),
		text(func(s *schema.Station) string { return s.Source }),
		text(func(s *schema.Station) string { return s.Name }),
		text(func(s *schema.Station) string { return s.City }),
		text(func(s *schema.Station) string { return s.State }),
		latitude, longitude, kind,
		text(func(s *schema.Station) string { return s.Attribution }),
		text(func(s *schema.Station) string { return s.Licence }),
		first, last,
	}
}
