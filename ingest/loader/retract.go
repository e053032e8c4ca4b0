package loader

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
	"vayu/schema/air"
	"vayu/schema/parameter"
)

// readingKey identifies a reading. ClickHouse can store several rows with the same key. The row stored last is valid.
type readingKey struct {
	station   string
	parameter parameter.Parameter
	at        int64 // Unix seconds
	kind      air.Kind
	averaging uint16
}

func keyOf(r *air.Reading) readingKey {
	return readingKey{r.Station, r.Parameter, r.At.Unix(), r.Kind, r.Averaging}
}

// removalColumns are the columns of a row that withdraws a reading.
var removalColumns = []clickhouse.ColumnNameAndType{
	{Name: "station", Type: "String"}, {Name: "parameter", Type: "String"}, {Name: "at", Type: "DateTime('UTC')"},
	{Name: "kind", Type: "Int8"}, {Name: "averaging", Type: "UInt16"}, {Name: "source", Type: "String"}, {Name: "removed", Type: "UInt8"},
}

// retract withdraws the stored readings that their source now reports as missing, and returns their number. It writes
// no row for a missing value that was never stored. A source withdraws only its own readings, so a late mirror cannot
// withdraw readings of the original feed.
func (l *Loader) retract(ctx context.Context, missing []air.Reading) (int, error) {
	if len(missing) == 0 {
		return 0, nil
	}
	missing, err := l.canonical(ctx, missing)
	if err != nil {
		return 0, err
	}
	stored, err := l.storedAmong(ctx, missing)
	if err != nil {
		return 0, fmt.Errorf("looking for readings that are missing now: %w", err)
	}
	var (
		stations, parameters, sources []string
		at                            []time.Time
		kind                          []int8
		averaging                     []uint16
		removed                       []uint8
	)
	for i := range missing {
		r := &missing[i]
		key := keyOf(r)
		if !stored[key] {
			continue
		}
		delete(stored, key) // a key may occur twice in missing
		stations, parameters, sources = append(stations, r.Station), append(parameters, r.Parameter.ID()), append(sources, r.Source)
		at, kind = append(at, r.At), append(kind, int8(r.Kind))
		averaging, removed = append(averaging, r.Averaging), append(removed, 1)
	}
	if len(stations) == 0 {
		return 0, nil
	}
	err = columnstore.Insert(ctx, l.conn, l.database+".reading", columnstore.NewToken(), removalColumns,
		[]any{stations, parameters, at, kind, averaging, sources, removed})
	if err != nil {
		return 0, fmt.Errorf("removing %d readings: %w", len(stations), err)
	}
	return len(stations), nil
}

// storedAmong returns the keys of missing values that have a stored reading of the same source.
func (l *Loader) storedAmong(ctx context.Context, missing []air.Reading) (map[readingKey]bool, error) {
	wanted := make(map[readingKey]bool, len(missing))
	stations, parameters := make(map[string]bool), make(map[string]bool)
	first, last := missing[0].At, missing[0].At
	for i := range missing {
		r := &missing[i]
		wanted[keyOf(r)] = true
		stations[r.Station], parameters[r.Parameter.ID()] = true, true
		if r.At.Before(first) {
			first = r.At
		}
		if r.At.After(last) {
			last = r.At
		}
	}
	rows, err := l.conn.Query(ctx, `SELECT station, parameter, toInt64(toUnixTimestamp(at)), toInt8(kind), averaging FROM `+l.database+`.reading FINAL
		WHERE source = {source:String} AND station IN {stations:Array(String)} AND parameter IN {parameters:Array(String)}
			AND at >= fromUnixTimestamp({first:Int64}) AND at <= fromUnixTimestamp({last:Int64})`,
		clickhouse.Named("source", missing[0].Source),
		clickhouse.Named("stations", slices.Sorted(maps.Keys(stations))), clickhouse.Named("parameters", slices.Sorted(maps.Keys(parameters))),
		clickhouse.Named("first", fmt.Sprint(first.Unix())), clickhouse.Named("last", fmt.Sprint(last.Unix())))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	stored := make(map[readingKey]bool)
	for rows.Next() {
		var (
			key  readingKey
			id   string
			kind int8
		)
		if err := rows.Scan(&key.station, &id, &key.at, &kind, &key.averaging); err != nil {
			return nil, err
		}
		key.parameter, _ = parameter.Parse(id)
		if key.kind = air.Kind(kind); wanted[key] {
			stored[key] = true
		}
	}
	return stored, rows.Err()
}
