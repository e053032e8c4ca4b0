package columnstore

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/config"
)

// Storage is the retention and placement of rows. Its durations are whole hours, counted from the end of a row's
// interval. So imported history counts as old at once.
type Storage struct {
	// KeepReadings is the retention of readings; 0 keeps them for ever.
	KeepReadings time.Duration `yaml:"keep-readings" help:"how long readings are kept; 0 for ever"`
	// KeepHours is the retention of stations' and cities' hourly rows; 0 keeps them for ever, like daily rows.
	KeepHours time.Duration `yaml:"keep-hours" help:"how long the hours of stations and cities are kept; 0 for ever"`
	// Policy is the name of the tables' storage policy, which ClickHouse's own configuration defines; empty for the
	// default policy.
	Policy string `yaml:"policy" help:"storage policy of the tables, defined in the configuration of ClickHouse; empty for its default"`
	// ColdAfter is the age at which readings and hourly rows move to ColdVolume; 0 for never.
	ColdAfter time.Duration `yaml:"cold-after" help:"after how long readings and hours move to the cold volume; 0 for never"`
	// ColdVolume is the volume of Policy to which old rows move.
	ColdVolume string `yaml:"cold-volume" help:"volume of the storage policy for old rows"`
}

// minKeep is the shortest retention. A roll-up reads 30 hours back, and a feed may catch up after days without data.
const minKeep = 7 * 24 * time.Hour

var storageName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// Validate returns an error for each setting that is wrong or contradicts another. It implements config.Validator.
func (s Storage) Validate() []error {
	var faults []error
	for key, d := range map[string]time.Duration{"keep-readings": s.KeepReadings, "keep-hours": s.KeepHours} {
		if d != 0 && d < minKeep {
			faults = append(faults, config.Invalid(key, "must be 0 or at least %s", minKeep))
		}
	}
	for key, d := range map[string]time.Duration{"keep-readings": s.KeepReadings, "keep-hours": s.KeepHours, "cold-after": s.ColdAfter} {
		if d < 0 || d%time.Hour != 0 {
			faults = append(faults, config.Invalid(key, "must be whole hours"))
		}
	}
	if s.Policy != "" && !storageName.MatchString(s.Policy) {
		faults = append(faults, config.Invalid("policy", "%q is not the name of a storage policy", s.Policy))
	}
	if s.ColdAfter != 0 && s.Policy == "" {
		faults = append(faults, config.Invalid("policy", "cold-after needs a storage policy that has the volume"))
	}
	if s.ColdAfter != 0 && !storageName.MatchString(s.ColdVolume) {
		faults = append(faults, config.Invalid("cold-volume", "%q is not the name of a volume", s.ColdVolume))
	}
	return faults
}

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
