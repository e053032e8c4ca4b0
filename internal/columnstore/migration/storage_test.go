package migration_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/columnstore"
	"vayu/internal/columnstore/columnstoretest"
	"vayu/internal/columnstore/migration"
	"vayu/schema/migrations/clickhouse"
)

const day = 24 * time.Hour

func TestStorageStatements(t *testing.T) {
	t.Parallel()
	tiered := columnstore.Storage{KeepReadings: 730 * day, KeepHours: 169 * time.Hour, Policy: "tiered", ColdAfter: 30 * day, ColdVolume: "cold"}
	for name, c := range map[string]struct {
		storage columnstore.Storage
		cluster string
		want    []string
	}{
		"for ever": {columnstore.Storage{}, "", nil},
		"readings for two years": {columnstore.Storage{KeepReadings: 730 * day}, "", []string{
			"ALTER TABLE vayu.reading MODIFY TTL at + toIntervalDay(730)",
			"ALTER TABLE vayu.reading_quality MODIFY TTL at + toIntervalDay(730)",
			"ALTER TABLE vayu.corrected MODIFY TTL at + toIntervalDay(730)",
		}},
		"a cold volume on a cluster": {tiered, "air", []string{
			"ALTER TABLE vayu.reading_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.reading_local ON CLUSTER `air` MODIFY TTL at + toIntervalDay(730), at + toIntervalDay(30) TO VOLUME 'cold'",
			"ALTER TABLE vayu.reading_quality_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.reading_quality_local ON CLUSTER `air` MODIFY TTL at + toIntervalDay(730), at + toIntervalDay(30) TO VOLUME 'cold'",
			"ALTER TABLE vayu.corrected_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.corrected_local ON CLUSTER `air` MODIFY TTL at + toIntervalDay(730), at + toIntervalDay(30) TO VOLUME 'cold'",
			"ALTER TABLE vayu.station_parameter_hour_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.station_parameter_hour_local ON CLUSTER `air` MODIFY TTL at + toIntervalHour(169)",
			"ALTER TABLE vayu.station_hour_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.station_hour_local ON CLUSTER `air` MODIFY TTL at + toIntervalHour(169)", // deleted before it could move
			"ALTER TABLE vayu.city_hour_local ON CLUSTER `air` MODIFY SETTING storage_policy = 'tiered'",
			"ALTER TABLE vayu.city_hour_local ON CLUSTER `air` MODIFY TTL at + toIntervalHour(169)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			got := migration.StorageStatements(c.storage, migration.Params{Database: "vayu", Cluster: c.cluster})
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		})
	}
}

// tiered has a second disk, and a policy that starts with the first. Its move_factor of 0 keeps new parts there on a
// machine whose disk is more than 90 % full.
const tiered = `<clickhouse><storage_configuration>
	<disks><slow><path>DIR/</path></slow></disks>
	<policies><tiered><volumes>
		<default><disk>default</disk></default>
		<cold><disk>slow</disk></cold>
	</volumes><move_factor>0</move_factor></tiered></policies>
</storage_configuration></clickhouse>`

// configured is a DB with other storage settings.
type configured struct {
	*columnstore.DB

	storage columnstore.Storage
}

func (c configured) Config() columnstore.Config {
	cfg := c.DB.Config()
	cfg.Storage = c.storage
	return cfg
}

// A database with fixed clauses has them after its rows are stored, and they are applied once.
func TestFixedTTLIsApplied(t *testing.T) {
	t.Parallel()
	db := columnstoretest.New(t)
	p := migration.Params{Database: columnstoretest.Database(t, db), Files: clickhouse.OpsFiles(), TTL: map[string]string{"rejected": "toDateTime(started) + toIntervalDay(30)"}}
	if err := migration.Apply(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
	watched, done := watch(db)
	for i, want := range [...]int{1, 0} {
		done.list = nil
		if err := migration.ApplyStorage(t.Context(), watched, p); err != nil {
			t.Fatal(err)
		}
		if len(done.list) != want {
			t.Errorf("call %d sent %q, want %d statements", i+1, done.list, want)
		}
	}
	var full string
	if err := db.Conn().QueryRow(t.Context(), "SELECT engine_full FROM system.tables WHERE name = 'rejected' AND database = '"+p.Database+"'").Scan(&full); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(full, " TTL toDateTime(started) + toIntervalDay(30)") {
		t.Errorf("the table is %s", full)
	}
}

// Changed settings apply to existing tables, and each change runs once.
func TestStorageMovesAndDeletesOldRows(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "tiered.xml")
	if err := os.WriteFile(file, []byte(strings.Replace(tiered, "DIR", filepath.Join(dir, "slow"), 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	db := columnstoretest.Start(t, func(c *columnstore.Config) { c.File = file })
	p := migration.Params{Database: columnstoretest.Database(t, db), Files: clickhouse.Files, Values: clickhouse.Values()}
	if err := migration.Apply(t.Context(), db, p); err != nil {
		t.Fatal(err)
	}
	exec := func(query string) {
		t.Helper()
		if err := db.Conn().Exec(t.Context(), strings.ReplaceAll(query, "vayu.", p.Database+".")); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(query string) (answer string) {
		t.Helper()
		if err := db.Conn().QueryRow(t.Context(), strings.ReplaceAll(query, "vayu.", p.Database+".")).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	exec("INSERT INTO vayu.reading (station, parameter, at, value, kind, averaging) SELECT 'a', 'pm25', now() - INTERVAL arrayJoin([1, 40, 400]) DAY, 1, 'concentration', 60")
	const parts = "SELECT arrayStringConcat(arraySort(groupArray(concat(partition, ' on ', disk_name))), ', ') FROM system.parts " +
		"WHERE active AND rows > 0 AND table = 'reading' AND database || '.' = 'vayu.'"
	month := func(days int) string { return time.Now().UTC().AddDate(0, 0, -days).Format("200601") }
	for _, step := range []struct {
		storage columnstore.Storage
		ttl     string
		parts   string
	}{
		{columnstore.Storage{Policy: "tiered", ColdAfter: 30 * day, ColdVolume: "cold"}, "at + toIntervalDay(30) TO VOLUME 'cold'",
			month(400) + " on slow, " + month(40) + " on slow, " + month(1) + " on default"},
		{columnstore.Storage{Policy: "tiered", ColdAfter: 30 * day, ColdVolume: "cold", KeepReadings: 365 * day}, "at + toIntervalDay(365), at + toIntervalDay(30) TO VOLUME 'cold'",
			month(40) + " on slow, " + month(1) + " on default"},
		{columnstore.Storage{}, "", month(40) + " on slow, " + month(1) + " on default"},
	} {
		set := configured{db, step.storage}
		if err := migration.ApplyStorage(t.Context(), set, p); err != nil {
			t.Fatal(err)
		}
		altered := ask("SELECT toString(max(metadata_modification_time)) FROM system.tables WHERE database || '.' = 'vayu.'")
		if err := migration.ApplyStorage(t.Context(), set, p); err != nil { // no-op
			t.Fatal(err)
		}
		if again := ask("SELECT toString(max(metadata_modification_time)) FROM system.tables WHERE database || '.' = 'vayu.'"); again != altered {
			t.Errorf("the tables changed at %s and again at %s", altered, again)
		}
		if full := ask("SELECT engine_full FROM system.tables WHERE name = 'reading' AND database || '.' = 'vayu.'"); !strings.Contains(full, step.ttl) || (step.ttl == "") == strings.Contains(full, "TTL") {
			t.Errorf("the table has %s, want the rule %q", full, step.ttl)
		}
		exec("OPTIMIZE TABLE vayu.reading FINAL")
		deadline := time.Now().Add(10 * time.Minute)
		for ask(parts) != step.parts && time.Now().Before(deadline) { // ClickHouse moves in the background
			exec("SELECT sleepEachRow(0.1) FROM numbers(1)")
		}
		if got := ask(parts); got != step.parts {
			t.Errorf("%+v: the parts are %s, want %s", step.storage, got, step.parts)
		}
	}
}
