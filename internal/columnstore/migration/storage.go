package migration

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/columnstore"
)

// StorageStatements returns the SQL that applies s to new tables of a database. It returns no statement if s
// equals the defaults of ClickHouse.
func StorageStatements(s columnstore.Storage, p Params) []string {
	var all []string
	for _, table := range p.agedTables() {
		all = append(all, rules(s).changes(p, table, stored{Policy: "default"})...) // "default" is the storage policy of a new table
	}
	return all
}

// agedTables are the tables of a world whose rows are deleted or moved by age. Storage settings are applied in this
// order.
var agedTables = []string{"reading", "reading_quality", "corrected", "station_parameter_hour", "station_hour", "city_hour"}

// agedTables returns the tables of p whose rows are deleted or moved by age.
func (p Params) agedTables() []string {
	if p.TTL != nil {
		return slices.Sorted(maps.Keys(p.TTL))
	}
	return agedTables
}

// rules are storage settings, with methods that convert them to SQL.
type rules columnstore.Storage

// retention returns how long a table of agedTables keeps its rows. 0 means for ever.
func (s rules) retention(table string) time.Duration {
	if strings.HasSuffix(table, "_hour") {
		return s.KeepHours
	}
	return s.KeepReadings
}

// ttl returns the TTL clause of a table of agedTables, as ClickHouse lists it. It is "" if no setting limits the age.
func (s rules) ttl(table string) string {
	var clauses []string
	keep := s.retention(table)
	if keep > 0 {
		clauses = append(clauses, "at + "+interval(keep))
	}
	if s.ColdAfter > 0 && (keep == 0 || s.ColdAfter < keep) {
		clauses = append(clauses, "at + "+interval(s.ColdAfter)+" TO VOLUME '"+s.ColdVolume+"'")
	}
	return strings.Join(clauses, ", ")
}

func interval(d time.Duration) string {
	const day = 24 * time.Hour
	if d%day == 0 {
		return fmt.Sprintf("toIntervalDay(%d)", d/day)
	}
	return fmt.Sprintf("toIntervalHour(%d)", d/time.Hour)
}

// stored has the storage settings of a table on a node.
type stored struct {
	TTL    string `ch:"ttl"` // clause; empty for none
	Policy string `ch:"policy"`
}

// changes returns the SQL that changes a table from the settings `has` to s. A non-nil p.TTL overrides the TTL of s.
func (s rules) changes(p Params, table string, has stored) []string {
	alter := "ALTER TABLE " + p.LocalTable(table)
	var all []string
	if s.Policy != "" && s.Policy != has.Policy {
		all = append(all, alter+" MODIFY SETTING storage_policy = '"+s.Policy+"'")
	}
	want := s.ttl(table)
	if p.TTL != nil {
		want = p.TTL[table]
	}
	switch want {
	case has.TTL:
	case "":
		all = append(all, alter+" REMOVE TTL")
	default:
		all = append(all, alter+" MODIFY TTL "+want)
	}
	return all
}

// ApplyStorage applies the storage settings of db to the tables that [Apply] has created. It changes only tables that
// differ from the settings, so it is cheap at each start. ClickHouse then moves rows in the background. If the settings
// no longer name a storage policy, the tables keep their policy: ClickHouse cannot remove a volume from a table.
func ApplyStorage(ctx context.Context, db Store, p Params) error {
	for _, table := range p.agedTables() {
		has, err := storedIn(ctx, db, p, table)
		if err != nil {
			return fmt.Errorf("reading how %s.%s is stored: %w", p.Database, table, err)
		}
		var done []string
		for _, node := range has {
			for _, statement := range rules(db.Config().Storage).changes(p, table, node) {
				if slices.Contains(done, statement) { // another node of the cluster has run it
					continue
				}
				if err := db.Conn().Exec(ctx, statement); err != nil {
					return fmt.Errorf("changing how %s.%s is stored: %w", p.Database, table, err)
				}
				done = append(done, statement)
				db.Log().InfoContext(ctx, "storage changed", "statement", statement)
			}
		}
	}
	return nil
}

// storedIn returns the storage settings of a table on the available nodes, without duplicates.
func storedIn(ctx context.Context, db Store, p Params, table string) (all []stored, err error) {
	from := Params{Database: "system", Cluster: p.Cluster}.everyNode("tables")
	err = db.Conn().Select(ctx, &all, "SELECT DISTINCT extract(engine_full, ' TTL (.*?)(?: SETTINGS .*)?$') AS ttl, storage_policy AS policy FROM "+from+
		" WHERE database = {database:String} AND name = {table:String} SETTINGS skip_unavailable_shards = 1",
		clickhouse.Named("database", p.Database), clickhouse.Named("table", p.Local(table)))
	return all, err
}
