package loader

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/ingest/station"
	"vayu/internal/columnstore"
	"vayu/schema/air"
)

// Limits of the age of cached aliases and stations. The cache expires because another process, such as an import, may
// change the tables. Writing an outdated cached row would undo such a change. Aliases expire after cacheLifetime.
//
// Reading a million stations takes seconds. The lifetime of cached stations is therefore so long that the reads take at
// most the share maxReadShare of the time. A busy engine can make a single read slow, so the lifetime is at most
// longestLifetime.
const (
	cacheLifetime   = 10 * time.Second
	longestLifetime = 5 * time.Minute
	maxReadShare    = 0.01
)

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
	{Name: "network", Type: "String"},
	{Name: "position_source", Type: "String"},
	{Name: "place_source", Type: "Int8"},
	{Name: "same_as", Type: "String"},
	{Name: "priority", Type: "UInt8"},
}

const stationNames = "id, source, name, city, state, latitude, longitude, kind, attribution, licence, first_seen, last_seen, " +
	"position_source, place_source, same_as"

// loadStations writes the changed stations, the new aliases and the change log. `moved` is the number of stations
// whose new position it refused, and `aliases` has the station id of each described alias. If the write fails,
// loadStations drops the cache, so that the next call reads the tables.
func (l *Loader) loadStations(ctx context.Context, described []air.Station) (moved int, aliases map[string]string, err error) {
	if len(described) == 0 { // a batch with readings of private stations describes no stations
		return 0, nil, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refreshCache(ctx); err != nil {
		return 0, nil, err
	}
	for _, s := range described {
		s.FirstSeen, s.LastSeen = wholeSecond(s.FirstSeen), wholeSecond(s.LastSeen)
		s.PositionSource = ""
		if s.Located() {
			s.PositionSource = s.Source
		}
		id := s.ID
		if l.cache.Describe(s) {
			moved++
		}
		if a, ok := l.cache.Aliases[id]; ok {
			if aliases == nil {
				aliases = make(map[string]string)
			}
			aliases[id] = a.Station
		}
	}
	if err := l.storeChanges(ctx); err != nil {
		l.cache = nil // the cache has changes that the tables lack: reload it
		return 0, nil, err
	}
	return moved, aliases, nil
}

// stationLifetime returns how long cached stations are valid if reading them took the time `read`.
func stationLifetime(read time.Duration) time.Duration {
	return min(max(cacheLifetime, time.Duration(float64(read)/maxReadShare)), longestLifetime)
}

// refreshCache reads the aliases if they are older than cacheLifetime. It then also reads the stations, if there is a
// new alias, or if the cached stations have expired. If there is no cache, it reads both. The caller has locked l.mu.
func (l *Loader) refreshCache(ctx context.Context) error {
	first := l.cache == nil
	if !first && time.Since(l.loadedAt) <= cacheLifetime {
		return nil
	}
	if !first && time.Since(l.stationsAt) <= l.stationsFor {
		aliases, err := l.readAliases(ctx)
		if err != nil {
			return err
		}
		if maps.EqualFunc(aliases, l.cache.Aliases, func(a, b station.Alias) bool { return a.Station == b.Station }) {
			l.loadedAt = time.Now()
			return nil
		}
	}
	began := time.Now()
	fresh, err := l.readStations(ctx)
	if err != nil {
		return err
	}
	if !first {
		if err := l.completeMerges(ctx, l.cache, fresh); err != nil {
			return err
		}
	}
	l.cache, l.loadedAt, l.stationsAt = fresh, time.Now(), time.Now()
	l.stationsFor = stationLifetime(time.Since(began))
	if first {
		l.cache.ApplyRules()
	}
	return nil
}

// completeMerges copies readings to the stations of the aliases that another process has created. Before this process
// read these aliases, it stored the readings under the alias ids.
func (l *Loader) completeMerges(ctx context.Context, was, is *station.Cache) error {
	for id, a := range is.Aliases {
		if known, ok := was.Aliases[id]; ok && known.Station == a.Station {
			continue
		}
		if err := l.copyReadings(ctx, id, a.Station); err != nil {
			return err
		}
	}
	return nil
}

// canonical returns the readings with each alias id replaced by the id of its station.
func (l *Loader) canonical(ctx context.Context, readings []air.Reading) ([]air.Reading, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.refreshCache(ctx); err != nil {
		return nil, err
	}
	if len(l.cache.Aliases) == 0 {
		return readings, nil
	}
	readings = slices.Clone(readings)
	for i := range readings {
		if a, ok := l.cache.Aliases[readings[i].Station]; ok {
			readings[i].Station = a.Station
		}
	}
	return readings, nil
}

// storeChanges writes the log of changes, then the new aliases and the changed stations. After a crash between these
// writes, the log may get the same changes again, but it lacks no change.
func (l *Loader) storeChanges(ctx context.Context) error {
	b := l.cache
	if len(b.Changes) > 0 {
		if err := columnstore.Insert(ctx, l.conn, l.database+".station_change", columnstore.NewToken(), changeColumns, changeSlices(b.Changes)); err != nil {
			return fmt.Errorf("storing %d changes of stations: %w", len(b.Changes), err)
		}
	}
	if len(b.NewAliases) > 0 {
		if err := columnstore.Insert(ctx, l.conn, l.database+".station_alias", columnstore.NewToken(), aliasColumns, aliasSlices(b.NewAliases)); err != nil {
			return fmt.Errorf("storing %d aliases of stations: %w", len(b.NewAliases), err)
		}
	}
	if len(b.Changed) > 0 {
		rows := make([]air.Station, 0, len(b.Changed))
		for id := range b.Changed {
			rows = append(rows, b.Known[id])
		}
		if err := columnstore.Insert(ctx, l.conn, l.database+".station", columnstore.NewToken(), stationColumns, stationSlices(rows)); err != nil {
			return fmt.Errorf("storing %d stations: %w", len(rows), err)
		}
	}
	b.Changes, b.NewAliases = nil, nil
	clear(b.Changed)
	return nil
}

func (l *Loader) readStations(ctx context.Context) (*station.Cache, error) {
	var located map[string]station.Placement
	if l.cache != nil {
		located = l.cache.Placements
	}
	b := station.NewCache(located)
	rows, err := l.conn.Query(ctx, "SELECT "+stationNames+" FROM "+l.database+".station FINAL")
	if err != nil {
		return nil, fmt.Errorf("reading the stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var s air.Station
		var kind, place int8
		if err := rows.Scan(&s.ID, &s.Source, &s.Name, &s.City, &s.State, &s.Latitude, &s.Longitude,
			&kind, &s.Attribution, &s.Licence, &s.FirstSeen, &s.LastSeen, &s.PositionSource, &place, &s.SameAs); err != nil {
			return nil, fmt.Errorf("reading a station: %w", err)
		}
		s.Kind, s.ByPosition = air.StationKind(kind), place == 1
		s.FirstSeen, s.LastSeen = wholeSecond(s.FirstSeen), wholeSecond(s.LastSeen)
		b.Known[s.ID] = s
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the stations: %w", err)
	}
	if b.Aliases, err = l.readAliases(ctx); err != nil {
		return nil, err
	}
	for alias := range b.Aliases {
		delete(b.Known, alias) // an alias is no station of its own
	}
	if l.cache != nil {
		b.KeepSeen(l.cache)
	}
	return b, nil
}

func (l *Loader) readAliases(ctx context.Context) (map[string]station.Alias, error) {
	rows, err := l.conn.Query(ctx, "SELECT alias, station, reason, actor FROM "+l.database+".station_alias FINAL")
	if err != nil {
		return nil, fmt.Errorf("reading the aliases of stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	all := make(map[string]station.Alias)
	for rows.Next() {
		var a station.Alias
		if err := rows.Scan(&a.Alias, &a.Station, &a.Reason, &a.Actor); err != nil {
			return nil, fmt.Errorf("reading an alias: %w", err)
		}
		all[a.Alias] = a
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("reading the aliases of stations: %w", err)
	}
	return all, nil
}

// wholeSecond truncates a time to the table's precision, so that equal times compare equal.
func wholeSecond(t time.Time) time.Time { return time.Unix(t.Unix(), 0).UTC() }

// stationSlices converts stations to columns: one slice of values for each of stationColumns.
func stationSlices(stations []air.Station) []any {
	n := len(stations)
	text := func(field func(*air.Station) string) []string {
		out := make([]string, n)
		for i := range stations {
			out[i] = field(&stations[i])
		}
		return out
	}
	latitude, longitude := make([]float64, n), make([]float64, n)
	kind, first, last := make([]int8, n), make([]int64, n), make([]int64, n)
	place, priority := make([]int8, n), make([]uint8, n)
	for i, s := range stations {
		latitude[i], longitude[i] = s.Latitude, s.Longitude
		kind[i] = int8(cmp.Or(s.Kind, air.Reference))
		first[i], last[i] = s.FirstSeen.Unix(), s.LastSeen.Unix()
		priority[i] = air.NetworkPriority(s.Network())
		if s.ByPosition {
			place[i] = 1
		}
	}
	return []any{
		text(func(s *air.Station) string { return s.ID }),
		text(func(s *air.Station) string { return s.Source }),
		text(func(s *air.Station) string { return s.Name }),
		text(func(s *air.Station) string { return s.City }),
		text(func(s *air.Station) string { return s.State }),
		latitude, longitude, kind,
		text(func(s *air.Station) string { return s.Attribution }),
		text(func(s *air.Station) string { return s.Licence }),
		first, last,
		text(func(s *air.Station) string { return s.Network() }),
		text(func(s *air.Station) string { return s.PositionSource }),
		place,
		text(func(s *air.Station) string { return s.SameAs }),
		priority,
	}
}
