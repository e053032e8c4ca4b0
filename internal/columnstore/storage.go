package columnstore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
)

// kept returns the retention of each table whose rows are deleted or moved by age; 0 for ever.
func (s Storage) kept() map[string]time.Duration {
	return map[string]time.Duration{"reading": s.KeepReadings, "reading_quality": s.KeepReadings, "corrected": s.KeepReadings, "station_parameter_hour": s.KeepHours, "station_hour": s.KeepHours, "city_hour": s.KeepHours}
}

// ttl returns the TTL clause for a table, in the form in which ClickHouse lists it; empty for none.
func (s Storage) ttl(keep time.Duration) string {
	var rules []string
	if keep > 0 {
		rules = append(rules, "at + "+interval(keep))
	}
	if s.ColdAfter > 0 && (keep == 0 || s.ColdAfter < keep) {
		rules = append(rules, "at + "+interval(s.ColdAfter)+" TO VOLUME '"+s.ColdVolume+"'")
	}
	return strings.Join(rules, ", ")
}

func interval(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return fmt.Sprintf("toIntervalDay(%d)", d/day)
	}
	return fmt.Sprintf("toIntervalHour(%d)", d/time.Hour)
}

// Statements returns the SQL that applies s to new tables of a database; none if s is ClickHouse's default.
func (s Storage) Statements(p Params) []string {
	var all []string
	for _, table := range agedTables {
		all = append(all, s.changes(p, table, stored{policy: defaultPolicy})...)
	}
	return all
}

// agedTables are the tables of Storage.kept, in the order in which they are changed.
var agedTables = []string{"reading", "reading_quality", "corrected", "station_parameter_hour", "station_hour", "city_hour"}

// defaultPolicy is the storage policy of a table that names no policy.
const defaultPolicy = "default"

// stored is the TTL and the storage policy of a table on a node.
type stored struct{ ttl, policy string }

// changes returns the SQL that changes a table from its current state (has) to s.
func (s Storage) changes(p Params, table string, has stored) []string {
	alter := "ALTER TABLE " + p.LocalTable(table)
	var all []string
	if s.Policy != "" && s.Policy != has.policy {
		all = append(all, alter+" MODIFY SETTING storage_policy = '"+s.Policy+"'")
	}
	switch want := s.ttl(s.kept()[table]); want {
	case has.ttl:
	case "":
		all = append(all, alter+" REMOVE TTL")
	default:
		all = append(all, alter+" MODIFY TTL "+want)
	}
	return all
}

// tableTTL matches the TTL clause in the column engine_full of system.tables.
var tableTTL = regexp.MustCompile(` TTL (.*?)(?: SETTINGS .*)?$`)

// ApplyStorage applies the storage settings of db to the tables of a database that [Migrate] has created. It changes
// only what differs, so it is cheap at each start. ClickHouse then moves rows in the background. If the settings no
// longer name a storage policy, the tables keep theirs: ClickHouse cannot remove a volume from a table.
func (db *DB) ApplyStorage(ctx context.Context, p Params) error {
	for _, table := range agedTables {
		has, err := db.storedIn(ctx, p, table)
		if err != nil {
			return fmt.Errorf("reading how %s.%s is stored: %w", p.Database, table, err)
		}
		var done []string
		for _, node := range has {
			for _, statement := range db.cfg.Storage.changes(p, table, node) {
				if slices.Contains(done, statement) { // another node of the cluster has run it
					continue
				}
				if err := db.conn.Exec(ctx, statement); err != nil {
					return fmt.Errorf("changing how %s.%s is stored: %w", p.Database, table, err)
				}
				done = append(done, statement)
				db.log.Info("storage changed", "statement", statement)
			}
		}
	}
	return nil
}

// storedIn returns the different TTLs and policies that a table has on the available nodes.
func (db *DB) storedIn(ctx context.Context, p Params, table string) ([]stored, error) {
	from := Params{Database: "system", Cluster: p.Cluster}.everyNode("tables")
	rows, err := db.conn.Query(ctx, "SELECT DISTINCT engine_full, storage_policy FROM "+from+
		" WHERE database = {database:String} AND name = {table:String} SETTINGS skip_unavailable_shards = 1",
		clickhouse.Named("database", p.Database), clickhouse.Named("table", p.local(table)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	var all []stored
	for rows.Next() {
		var full string
		var one stored
		if err := rows.Scan(&full, &one.policy); err != nil {
			return nil, err
		}
		if found := tableTTL.FindStringSubmatch(full); found != nil {
			one.ttl = found[1]
		}
		all = append(all, one)
	}
	return all, rows.Err()
}
