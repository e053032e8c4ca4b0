package archive

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"vayu/query/aggregate"
	"vayu/query/dataset"
	"vayu/schema/statement"
)

// stays reports whether the archive keeps a month's file although ClickHouse has fewer rows. It returns false if the
// option Prune is set, no row is missing, or the missing rows were removed on purpose. It returns true if the retention
// deletes rows of the month. If nothing explains the missing rows, it returns true and calls the option Fewer.
func (r *run) stays(ctx context.Context, t dataset.Table, last File, rows uint64, kept time.Duration) (bool, error) {
	if r.o.Prune || rows >= last.Rows {
		return false, nil
	}
	from, to, err := last.bounds()
	if err != nil {
		return false, err
	}
	if kept > 0 && t.Time != "" && from.Add(kept).Before(r.o.Now) {
		return true, nil
	}
	removed, err := r.removed(ctx, t, from, to)
	if err != nil || removed >= last.Rows-rows {
		return false, err
	}
	r.Fewer++
	if r.o.Fewer != nil {
		r.o.Fewer(last, rows)
	}
	return true, nil
}

// clocks is the tolerated clock skew between the machine that stored a row and the machine of the last run.
const clocks = time.Hour

// removed returns how many rows of a month may have been removed on purpose since the last run: rows marked as removed,
// figures computed again by a roll-up and, unless r.lost, rows of stations no longer public and any rows of `station`.
func (r *run) removed(ctx context.Context, t dataset.Table, from, to time.Time) (sum uint64, err error) {
	if t.Name == "station" && !r.lost {
		return math.MaxUint64, nil
	}
	args := []any{
		aggregate.Param("database", r.o.Database), aggregate.Param("table", t.Name),
		aggregate.Param("from", fmt.Sprint(from.Unix())), aggregate.Param("to", fmt.Sprint(to.Unix())),
		aggregate.Param("since", fmt.Sprint(r.before.Made.Add(-clocks).Unix())),
	}
	var tombstones uint8
	err = queryValue(ctx, r.conn, &tombstones, `SELECT toUInt8(count() > 0) FROM system.columns
		WHERE database = {database:String} AND table = {table:String} AND name = 'removed'`, args...)
	if err != nil {
		return 0, fmt.Errorf("reading the columns: %w", err)
	}
	var gone []string
	if tombstones > 0 {
		gone = append(gone, "(removed = 1 AND "+t.Version+" >= fromUnixTimestamp({since:Int64}))")
	}
	if t.Station != "" && !r.lost { // without the private stations, which were never in the archive
		gone = append(gone, t.Station+" NOT IN (SELECT id FROM "+statement.QuoteName(r.o.Database, "station")+
			" UNION ALL SELECT id FROM "+statement.QuoteName(r.o.Database, "pushed_station")+")")
	}
	if len(gone) > 0 {
		query := "SELECT uniqExact(" + strings.Join(t.Key, ", ") + ") FROM " + statement.QuoteName(r.o.Database, t.Name) + " WHERE (" + strings.Join(gone, " OR ") + ")"
		if t.Time != "" {
			query += " AND toUnixTimestamp(toDateTime(" + t.Time + ", 'UTC')) >= {from:Int64} AND toUnixTimestamp(toDateTime(" + t.Time + ", 'UTC')) < {to:Int64}"
		}
		if err := queryValue(ctx, r.conn, &sum, query+" SETTINGS final = 0", args...); err != nil {
			return 0, fmt.Errorf("counting the removed rows: %w", err)
		}
	}
	if tombstones > 0 || !slices.Contains(rolledUp, t.Name) {
		return sum, nil
	}
	var computed uint64 // a day of a city also depends on hours of the day before and after
	err = queryValue(ctx, r.conn, &computed, `SELECT toUInt64(max(stations) * uniqExact(hour)) FROM (SELECT stations, arrayJoin(range(
			toUInt32(greatest(toInt64(toUnixTimestamp(hours_from)), {from:Int64} - 86400)), toUInt32(least(toInt64(toUnixTimestamp(hours_to)), {to:Int64} + 86400)) + 1, 3600)) AS hour
		FROM `+statement.QuoteName(r.o.Database, "rollup")+` WHERE at >= fromUnixTimestamp({since:Int64})
			AND toUnixTimestamp(hours_to) >= {from:Int64} - 86400 AND toUnixTimestamp(hours_from) <= {to:Int64} + 86400)`, args...)
	if err != nil {
		return 0, fmt.Errorf("reading the roll-ups: %w", err)
	}
	return sum + computed, nil
}

// rolledUp are the tables from which a roll-up deletes outdated figures, without leaving rows marked as removed.
var rolledUp = []string{"city_day", "city_hour", "station_hour"}

// checkStations sets r.lost if ClickHouse has less than half of the archive's stations. The missing stations are then
// more likely lost than no longer public, so their rows must stay in the archive.
func (r *run) checkStations(ctx context.Context) error {
	var now uint64
	if err := queryValue(ctx, r.conn, &now, "SELECT count() FROM "+statement.QuoteName(r.o.Database, "station")+" FINAL"); err != nil {
		return fmt.Errorf("counting the stations: %w", err)
	}
	before := r.before.table("station")
	r.lost = 2*now < before.Rows()
	return nil
}
