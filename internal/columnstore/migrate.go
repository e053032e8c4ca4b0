package columnstore

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/gofrs/flock"
)

// Migrate applies the migrations of files to the database p.Database, in order. They are NNNN_name.sql in the root of
// files. Each is a template (see Params) of statements that end with ";" at the end of a line. Applied migrations are
// recorded in the table "migration" of the same database. If a database is up to date, Migrate changes nothing in it.
// Then it needs no rights for DDL, and does not wait for the nodes of a cluster.
//
// ClickHouse has no transactions for DDL. A file that stops half-way is applied again from its beginning, so its
// statements must be idempotent. They use IF NOT EXISTS, OR REPLACE, or the guard "-- when column TABLE.COLUMN" above
// a statement. On the embedded engine a lock in the data directory excludes concurrent migrations. On a server
// concurrent migrations are harmless, because the statements are idempotent.
//
// On a cluster every node has all rows of the table "migration", and all available nodes are queried. So a replica
// that lags does not matter, and an unavailable node is skipped. But a statement ON CLUSTER waits for every node, and
// fails if one is unavailable; [Transient] reports such an error.
//
// Migrate rejects a database that a newer program migrated, and a file that was edited after it was applied.
func Migrate(ctx context.Context, db *DB, files fs.FS, p Params) error {
	list, err := listFor(files, p)
	if err != nil {
		return err
	}
	return db.migrate(ctx, list, p)
}

// CheckMigrated checks that the database p.Database is up to date, and changes nothing. The error is a *BehindError
// if the database is missing or older than files. Other errors are those of Migrate.
func CheckMigrated(ctx context.Context, db *DB, files fs.FS, p Params) error {
	list, err := listFor(files, p)
	if err != nil {
		return err
	}
	applied, _, err := db.applied(ctx, p)
	if err != nil {
		return fmt.Errorf("looking at the tables of %q: %w", p.Database, err)
	}
	pending, err := pendingMigrations(list, applied)
	switch {
	case err != nil:
		return fmt.Errorf("looking at the tables of %q: %w", p.Database, err)
	case len(pending) == 0:
		return nil
	case len(applied) == 0:
		return &BehindError{Database: p.Database, Want: list[len(list)-1].name}
	}
	return &BehindError{Database: p.Database, Has: applied[len(applied)-1].Name, Want: list[len(list)-1].name}
}

// BehindError means that a database must be migrated before this program can use it.
type BehindError struct {
	Database  string
	Has, Want string // names of the last migrations, of the database and of this program; Has is empty for none
}

// Error describes which migrations are missing. The caller adds the remedy.
func (e *BehindError) Error() string {
	if e.Has == "" {
		return fmt.Sprintf("%q has no tables yet", e.Database)
	}
	return fmt.Sprintf("the tables of %q are older than this program: they are at %s, and it needs %s", e.Database, e.Has, e.Want)
}

// listFor validates p, and reads the migrations in files.
func listFor(files fs.FS, p Params) ([]migration, error) {
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("migrating ClickHouse: %w", err)
	}
	list, err := readMigrations(files)
	if err != nil {
		return nil, fmt.Errorf("migrating %q: %w", p.Database, err)
	}
	return list, nil
}

// migrate applies the migrations in list to the database, as Migrate describes.
func (db *DB) migrate(ctx context.Context, list []migration, p Params) error {
	if db.Embedded() {
		lock := flock.New(filepath.Join(db.cfg.Data, "migrate.lock"), flock.SetPermissions(0o600))
		if _, err := lock.TryLockContext(ctx, readyPause); err != nil {
			return fmt.Errorf("migrating %q: waiting for another migration to end: %w", p.Database, err)
		}
		defer lock.Close()
	}
	pending, err := db.pending(ctx, list, p)
	if err != nil {
		return fmt.Errorf("migrating %q: %w", p.Database, err)
	}
	for _, m := range pending {
		if err := db.apply(ctx, m, p); err != nil {
			return fmt.Errorf("migrating %q: %s: %w", p.Database, m.name, err)
		}
	}
	return nil
}

// pending returns the migrations to apply. Unless the database is up to date, it creates the database and its table
// "migration" where they are missing. A cluster may have created them on some of its nodes only.
func (db *DB) pending(ctx context.Context, list []migration, p Params) ([]migration, error) {
	applied, found, err := db.applied(ctx, p)
	if err != nil {
		return nil, err
	}
	pending, err := pendingMigrations(list, applied)
	if err != nil || found && len(pending) == 0 {
		return nil, err
	}
	text, err := p.render("migration", ownTables)
	if err != nil {
		return nil, err
	}
	if err := db.statements(ctx, text, p); err != nil || found {
		return pending, err
	}
	if applied, _, err = db.applied(ctx, p); err != nil { // this node may have been the only one without the table
		return nil, err
	}
	return pendingMigrations(list, applied)
}

// record is one row of the table "migration": an applied migration.
type record struct {
	Version  uint32 `ch:"version" json:"version"`
	Name     string `ch:"name" json:"name"`
	Checksum string `ch:"checksum" json:"checksum"`
}

// ownTables creates a database and the only table of package columnstore itself, "migration".
const ownTables = `CREATE DATABASE IF NOT EXISTS {{.Database}} {{.OnCluster}};
CREATE TABLE IF NOT EXISTS {{.Database}}.migration {{.OnCluster}}
(
    version UInt32 COMMENT 'number of the file',
    name String COMMENT 'file name',
    checksum String COMMENT 'first 16 hexadecimal digits of the SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was applied, UTC'
)
ENGINE = {{everywhere "ReplacingMergeTree" "applied_at"}}
ORDER BY version
COMMENT 'Migrations that were applied. Written by package columnar only.';
`

// applied returns the applied migrations. found is false if there is no table "migration", at least on the node that
// answers.
func (db *DB) applied(ctx context.Context, p Params) (rows []record, found bool, err error) {
	var tables uint64
	all := Params{Database: "system", Cluster: p.Cluster}.everyNode("tables")
	err = db.conn.QueryRow(ctx, "SELECT count() FROM "+all+" WHERE database = {database:String} AND name = 'migration' SETTINGS skip_unavailable_shards = 1",
		clickhouse.Named("database", p.Database)).Scan(&tables)
	if err != nil {
		return nil, false, fmt.Errorf("looking for the table migration: %w", err)
	}
	if tables == 0 {
		return nil, false, nil
	}
	query := "SELECT version, argMax(m.name, m.applied_at) AS name, argMax(m.checksum, m.applied_at) AS checksum FROM " + p.everyNode("migration") +
		" AS m GROUP BY version ORDER BY version SETTINGS skip_unavailable_shards = 1"
	if err := db.conn.Select(ctx, &rows, query); absent(err) {
		return nil, false, nil
	} else if err != nil {
		return nil, false, fmt.Errorf("reading what was applied: %w", err)
	}
	return rows, true, nil
}

// recordColumns are the columns of table "migration" that apply writes.
var recordColumns = []clickhouse.ColumnNameAndType{{Name: "version", Type: "UInt32"}, {Name: "name", Type: "String"}, {Name: "checksum", Type: "String"}}

// apply runs the statements of one migration and records the migration as applied.
func (db *DB) apply(ctx context.Context, m migration, p Params) error {
	text, err := p.render(m.name, m.text)
	if err != nil {
		return err
	}
	if err := db.statements(ctx, text, p); err != nil {
		return err
	}
	if err := Insert(ctx, db.conn, quoteName(p.Database)+".migration", NewToken(), recordColumns, []any{[]uint32{m.version}, []string{m.name}, []string{m.sum()}}); err != nil {
		return fmt.Errorf("recording it: %w", err)
	}
	db.log.Info("migration applied", "database", p.Database, "file", m.name)
	return nil
}

// guardComment matches a comment above a statement that runs only if a table on this node has a column. A change of a
// column needs that guard: a file that stopped half-way is applied again, and two programs may apply a file
// concurrently.
var guardComment = regexp.MustCompile(`(?m)^-- when column ([a-z0-9_]+)\.([a-z0-9_]+)$`)

// statements runs the statements in text one after the other.
func (db *DB) statements(ctx context.Context, text string, p Params) error {
	for n, statement := range splitStatements(text) {
		if err := db.statement(ctx, statement, p); err != nil {
			return fmt.Errorf("statement %d: %w", n+1, err)
		}
	}
	return nil
}

// statement runs one statement, if its guard column exists. A failure is no error if the column does not exist
// afterwards, because another program has then run the statement.
func (db *DB) statement(ctx context.Context, statement string, p Params) error {
	guard := guardComment.FindStringSubmatch(statement)
	if guard == nil {
		return db.conn.Exec(ctx, statement)
	}
	present, err := db.hasColumn(ctx, p, guard[1], guard[2])
	if err != nil || !present {
		return err
	}
	if err := db.conn.Exec(ctx, statement); err != nil {
		if present, lookErr := db.hasColumn(ctx, p, guard[1], guard[2]); lookErr != nil || present {
			return err
		}
	}
	return nil
}

// hasColumn reports whether a table on this node has a column.
func (db *DB) hasColumn(ctx context.Context, p Params, table, column string) (bool, error) {
	var columns uint64
	err := db.conn.QueryRow(ctx, "SELECT count() FROM system.columns WHERE database = {database:String} AND table = {table:String} AND name = {column:String}",
		clickhouse.Named("database", p.Database), clickhouse.Named("table", table), clickhouse.Named("column", column)).Scan(&columns)
	if err != nil {
		return false, fmt.Errorf("looking for the column %s.%s: %w", table, column, err)
	}
	return columns > 0, nil
}
