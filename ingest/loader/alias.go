package loader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"vayu/ingest/station"
	"vayu/internal/columnstore"
	"vayu/schema/air"
)

// Alias is a station id whose readings are stored under another id.
type Alias struct {
	Alias, Station string
	Reason, Actor  string
	MadeAt         time.Time
}

// Aliases reads the aliases of a database, in order of the alias.
func Aliases(ctx context.Context, conn driver.Conn, database string) ([]Alias, error) {
	rows, err := conn.Query(ctx, "SELECT alias, station, reason, actor, made_at FROM "+database+".station_alias FINAL ORDER BY alias")
	if err != nil {
		return nil, fmt.Errorf("reading the aliases of stations: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var all []Alias
	for rows.Next() {
		var a Alias
		if err := rows.Scan(&a.Alias, &a.Station, &a.Reason, &a.Actor, &a.MadeAt); err != nil {
			return nil, fmt.Errorf("reading an alias: %w", err)
		}
		all = append(all, a)
	}
	return all, rows.Err()
}

// ErrNoStation is returned for a station that does not exist.
var ErrNoStation = errors.New("no such station")

// Merge makes the station `from` an alias of the station `into`, the target. It copies the stored readings of the alias
// to the target, and redirects future readings to the target. If both have the same reading, that of the target stays.
// The alias's own row and readings are kept. Merge is idempotent: after an error, call it again.
//
// Withdrawn readings are not copied. A running service reads the new alias within [cacheLifetime]. It then copies the
// readings that it stored under the old id in the meantime. The next roll-up computes the target's hourly values again.
func (l *Loader) Merge(ctx context.Context, from, into, reason, actor string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, err := l.readStations(ctx)
	if err != nil {
		return err
	}
	l.cache = nil
	if a, ok := b.Aliases[into]; ok {
		into = a.Station
	}
	kept, ok := b.Known[into]
	if !ok {
		return fmt.Errorf("merging into %q: %w", into, ErrNoStation)
	}
	if from == into {
		return fmt.Errorf("merging %q into itself", from)
	}
	old, known := b.Known[from]
	if _, aliased := b.Aliases[from]; !known && !aliased {
		return fmt.Errorf("merging %q: %w", from, ErrNoStation)
	}
	if known {
		b.Log(station.Change{Station: from, Field: "city", Before: old.City + "\t" + old.State, After: "\t", Source: actor, Reason: reason})
		if old.FirstSeen.Before(kept.FirstSeen) {
			kept.FirstSeen = old.FirstSeen
		}
		if old.LastSeen.After(kept.LastSeen) {
			kept.LastSeen = old.LastSeen
		}
		if kept.SameAs == from {
			kept.SameAs = ""
		}
		old.SameAs = into
		b.Store(old)
		b.Store(kept)
	}
	b.Log(station.Change{Station: into, Field: "alias", After: from, Source: actor, Reason: reason})
	b.NewAliases = append(b.NewAliases, station.Alias{Alias: from, Station: into, Reason: reason, Actor: actor})
	for _, a := range b.Aliases {
		if a.Station == from {
			b.NewAliases = append(b.NewAliases, station.Alias{Alias: a.Alias, Station: into, Reason: a.Reason, Actor: a.Actor})
		}
	}
	for _, s := range b.Known {
		if s.SameAs == from && s.ID != into {
			s.SameAs = into
			b.Store(s)
		}
	}
	l.cache = b
	err = l.storeChanges(ctx)
	l.cache = nil
	if err != nil {
		return err
	}
	return l.copyReadings(ctx, from, into)
}

// copyReadings copies the readings of the station `from` to the station `into`. It skips withdrawn readings, and
// readings that `into` already has. The SQL text `key` selects the columns that identify a reading within a station.
func (l *Loader) copyReadings(ctx context.Context, from, into string) error {
	const key = `tuple(COLUMNS('^(pollutant|parameter|at|kind|averaging)$'))`
	// REPLACE defines a new column `station`. The inner query is necessary to filter by the stored column `station`.
	query := fmt.Sprintf(`INSERT INTO %[1]s.reading SELECT * REPLACE ({into:String} AS station, now64(3) AS ingested_at)
		FROM (SELECT * FROM %[1]s.reading FINAL WHERE station = {from:String}
			AND NOT arrayExists(w -> w.1 IN ('', parameter) AND at > w.2 AND at <= w.3,
				(SELECT groupArray((toString(parameter), from_at, to_at)) FROM %[1]s.withdrawal FINAL WHERE station = {from:String}))
			AND %[2]s NOT IN (SELECT %[2]s FROM %[1]s.reading FINAL WHERE station = {into:String}))
		SETTINGS max_partitions_per_insert_block = 0, distributed_foreground_insert = 1,
			distributed_product_mode = 'global', parallel_distributed_insert_select = 0`, l.database, key)
	ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"from": from, "into": into}),
		clickhouse.WithSettings(clickhouse.Settings{"insert_deduplication_token": columnstore.NewToken()}))
	if err := l.conn.Exec(ctx, query); err != nil {
		return fmt.Errorf("copying the readings of %q to %q: %w", from, into, err)
	}
	return nil
}

// WriteAliases writes the aliases of stations as a table.
func WriteAliases(ctx context.Context, conn driver.Conn, database string, w io.Writer) error {
	all, err := Aliases(ctx, conn, database)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(out, "ALIAS\tSTATION\tREASON\tBY\tSINCE")
	for _, a := range all {
		_, _ = fmt.Fprintf(out, "%s\t%s\t%s\t%s\t%s\n", a.Alias, a.Station, a.Reason, a.Actor, a.MadeAt.UTC().Format(time.RFC3339))
	}
	return out.Flush()
}

// FindStation finds a station by its id or its name, and returns its id. It returns an error if several stations have
// the name.
func FindStation(ctx context.Context, conn driver.Conn, database, text string) (string, error) {
	rows, err := conn.Query(ctx, "SELECT id FROM "+database+".station FINAL WHERE id = ? OR lower(name) = lower(?) ORDER BY id != ?",
		text, air.CleanPlace(text), text)
	if err != nil {
		return "", fmt.Errorf("looking for station %q: %w", text, err)
	}
	defer func() { _ = rows.Close() }()
	var found []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return "", fmt.Errorf("looking for station %q: %w", text, err)
		}
		found = append(found, id)
	}
	switch {
	case rows.Err() != nil:
		return "", fmt.Errorf("looking for station %q: %w", text, rows.Err())
	case len(found) == 0:
		return "", fmt.Errorf("%q: %w", text, ErrNoStation)
	case len(found) > 1 && found[0] != text:
		return "", fmt.Errorf("several stations are named %q: %v (use the id)", text, found)
	}
	return found[0], nil
}
