// Package migration creates the tables of ClickHouse from numbered SQL files, upgrades them, and applies storage
// settings.
package migration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/gofrs/flock"

	"vayu/internal/columnstore"
	"vayu/schema/statement"
)

// Store is the ClickHouse to migrate. [columnstore.DB] implements it.
type Store interface {
	Conn() driver.Conn
	Config() columnstore.Config
	Log() *slog.Logger
}

// Apply applies the migrations in p.Files to the database p.Database, in order. A migration is a file NNNN_name.sql in
// the root of p.Files. The file is a template (see Params). Its statements end with ";" at the end of a line. The table
// "migration" of the same database records the applied migrations. If the database is up to date, Apply changes
// nothing, needs no rights for DDL, and does not wait for the nodes of a cluster.
//
// ClickHouse has no transactions for DDL. If a statement fails, the next Apply runs the whole file again, so its
// statements must be idempotent. Use IF NOT EXISTS, OR REPLACE, or the guard "-- when column TABLE.COLUMN" above a
// statement. On the embedded engine a lock in the data directory excludes concurrent calls of Apply. A server has no
// such lock: a statement may fail if a concurrent Apply has renamed its table, so the caller should exclude such calls.
//
// On a cluster every node has all rows of the table "migration", and Apply reads the table on all available nodes.
// Therefore unavailable nodes and replicas that lag do not matter. But a statement ON CLUSTER waits for every node, and
// fails if one is unavailable; [columnstore.Transient] reports such an error.
//
// Apply rejects a database that a newer program migrated, and a file that was edited after it was applied.
func Apply(ctx context.Context, db Store, p Params) error {
	return target{db, p}.apply(ctx, func(file) bool { return true })
}

// ApplyOnly does the work of [Apply] for the listed migrations only. A restore uses it to create the tables in the
// version that the backup had.
func ApplyOnly(ctx context.Context, db Store, p Params, only []Record) error {
	return target{db, p}.apply(ctx, func(f file) bool {
		return slices.ContainsFunc(only, func(r Record) bool { return r.Version == f.version })
	})
}

// Check returns nil if the database p.Database is up to date. It changes nothing. The error is a *BehindError if the
// database is missing or older than p.Files. Like [Apply], Check rejects a newer database and an edited file.
func Check(ctx context.Context, db Store, p Params) error {
	list, err := listFor(p)
	if err != nil {
		return err
	}
	applied, _, err := Applied(ctx, db, p)
	var pending []file
	if err == nil {
		pending, err = pendingFiles(list, applied)
	}
	switch {
	case err != nil:
		return fmt.Errorf("checking the tables of %q: %w", p.Database, err)
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

// listFor validates p, and reads the migrations in p.Files.
func listFor(p Params) ([]file, error) {
	if err := p.validate(); err != nil {
		return nil, fmt.Errorf("migrating ClickHouse: %w", err)
	}
	list, err := readFiles(p.Files)
	if err != nil {
		return nil, fmt.Errorf("migrating %q: %w", p.Database, err)
	}
	return list, nil
}

// Verify returns an error unless `files` has each migration in `applied`, unedited. It does not connect to ClickHouse.
func Verify(files fs.FS, applied []Record) error {
	list, err := readFiles(files)
	if err != nil {
		return err
	}
	_, err = pendingFiles(list, applied)
	return err
}

// target is a database that is migrated.
type target struct {
	Store
	Params
}

// lockInterval is the time between two attempts to get the lock of the data directory.
const lockInterval = 200 * time.Millisecond

// apply applies the pending migrations for which the function `match` returns true, in the way that [Apply] describes.
func (t target) apply(ctx context.Context, match func(file) bool) error {
	list, err := listFor(t.Params)
	if err != nil {
		return err
	}
	if cfg := t.Config(); cfg.DSN == "" {
		lock := flock.New(filepath.Join(cfg.Data, "migrate.lock"), flock.SetPermissions(0o600))
		if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
			return fmt.Errorf("migrating %q: waiting for another migration to end: %w", t.Database, err)
		}
		defer lock.Close()
	}
	pending, err := t.pending(ctx, slices.DeleteFunc(list, func(f file) bool { return !match(f) }))
	if err != nil {
		return fmt.Errorf("migrating %q: %w", t.Database, err)
	}
	for _, f := range pending {
		if err := t.run(ctx, f); err != nil {
			return fmt.Errorf("migrating %q: %s: %w", t.Database, f.name, err)
		}
	}
	return nil
}

// pending returns the files of `list` that are not applied yet. If there are any, or the table "migration" is missing,
// it first creates the database and that table on the nodes that lack them.
func (t target) pending(ctx context.Context, list []file) ([]file, error) {
	applied, found, err := Applied(ctx, t, t.Params)
	if err != nil {
		return nil, err
	}
	pending, err := pendingFiles(list, applied)
	if err != nil || found && len(pending) == 0 {
		return nil, err
	}
	text, err := t.render(recordTable, recordDDL)
	if err != nil {
		return nil, err
	}
	if err := t.statements(ctx, text); err != nil || found {
		return pending, err
	}
	if applied, _, err = Applied(ctx, t, t.Params); err != nil { // another node may already have had the table, with rows
		return nil, err
	}
	return pendingFiles(list, applied)
}

// Record is one row of the table "migration": an applied migration.
type Record struct {
	Version  uint32 `ch:"version" json:"version"`
	Name     string `ch:"name" json:"name"`
	Checksum string `ch:"checksum" json:"checksum"`
}

// recordTable is the table that records the applied migrations of its database.
const recordTable = "migration"

// recordDDL creates a database and its recordTable.
const recordDDL = `CREATE DATABASE IF NOT EXISTS {{.Database}} {{.OnCluster}};
CREATE TABLE IF NOT EXISTS {{.Database}}.migration {{.OnCluster}}
(
    version UInt32 COMMENT 'number of the file',
    name String COMMENT 'file name',
    checksum String COMMENT 'first 16 hexadecimal digits of the SHA-256 of the file',
    applied_at DateTime64(3, 'UTC') DEFAULT now64(3) COMMENT 'when it was applied, UTC'
)
ENGINE = {{everywhere "ReplacingMergeTree" "applied_at"}}
ORDER BY version
COMMENT 'Migrations that were applied. Written by internal/columnstore/migration only.';
`

// Applied returns the applied migrations of the database p.Database. The result `found` is false if no available node
// has the table "migration", or if the node that runs the query lacks the table.
func Applied(ctx context.Context, db Store, p Params) (rows []Record, found bool, err error) {
	var tables uint64
	all := Params{Database: "system", Cluster: p.Cluster}.everyNode("tables")
	err = db.Conn().QueryRow(ctx, "SELECT count() FROM "+all+" WHERE database = {database:String} AND name = 'migration' SETTINGS skip_unavailable_shards = 1",
		clickhouse.Named("database", p.Database)).Scan(&tables)
	if err != nil {
		return nil, false, fmt.Errorf("looking for the table migration: %w", err)
	}
	if tables == 0 {
		return nil, false, nil
	}
	query := "SELECT version, argMax(m.name, m.applied_at) AS name, argMax(m.checksum, m.applied_at) AS checksum FROM " + p.everyNode("migration") +
		" AS m GROUP BY version ORDER BY version SETTINGS skip_unavailable_shards = 1"
	err = db.Conn().Select(ctx, &rows, query)
	if stated, ok := errors.AsType[*clickhouse.Exception](err); ok && (stated.Code == 60 || stated.Code == 81) { // UNKNOWN_TABLE, UNKNOWN_DATABASE
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("reading the applied migrations: %w", err)
	}
	return rows, true, nil
}

// recordColumns are the columns of the table "migration" that [target.run] writes.
var recordColumns = []clickhouse.ColumnNameAndType{{Name: "version", Type: "UInt32"}, {Name: "name", Type: "String"}, {Name: "checksum", Type: "String"}}

// run runs the statements of one file and records the file as applied.
func (t target) run(ctx context.Context, f file) error {
	text, err := t.render(f.name, f.text)
	if err != nil {
		return err
	}
	if err := t.statements(ctx, text); err != nil {
		return err
	}
	if err := columnstore.Insert(ctx, t.Conn(), statement.QuoteName(t.Database, recordTable), columnstore.NewToken(), recordColumns,
		[]any{[]uint32{f.version}, []string{f.name}, []string{f.sum()}}); err != nil {
		return fmt.Errorf("recording the migration: %w", err)
	}
	t.Log().InfoContext(ctx, "migration applied", "database", t.Database, "file", f.name)
	return nil
}

// guardComment matches a comment above a statement that runs only if a table on this node has a column. A change of a
// column needs this guard, because a statement can run twice: if a later statement of its file failed, or if two
// programs apply the file concurrently.
var guardComment = regexp.MustCompile(`(?m)^-- when column ([a-z0-9_]+)\.([a-z0-9_]+)$`)

func (t target) statements(ctx context.Context, text string) error {
	for n, statement := range splitStatements(text) {
		if err := t.statement(ctx, statement); err != nil {
			return fmt.Errorf("statement %d: %w", n+1, err)
		}
	}
	return nil
}

// statement runs one statement, unless its guard names a missing column. If the statement fails and the column is then
// missing, another program has run the statement, and the method returns nil.
func (t target) statement(ctx context.Context, statement string) error {
	guard := guardComment.FindStringSubmatch(statement)
	if guard == nil {
		return t.Conn().Exec(ctx, statement)
	}
	present, err := t.hasColumn(ctx, guard[1], guard[2])
	if err != nil || !present {
		return err
	}
	if err := t.Conn().Exec(ctx, statement); err != nil {
		if present, lookErr := t.hasColumn(ctx, guard[1], guard[2]); lookErr != nil || present {
			return err
		}
	}
	return nil
}

func (t target) hasColumn(ctx context.Context, table, column string) (bool, error) {
	var columns uint64
	err := t.Conn().QueryRow(ctx, "SELECT count() FROM system.columns WHERE database = {database:String} AND table = {table:String} AND name = {column:String}",
		clickhouse.Named("database", t.Database), clickhouse.Named("table", table), clickhouse.Named("column", column)).Scan(&columns)
	if err != nil {
		return false, fmt.Errorf("looking for the column %s.%s: %w", table, column, err)
	}
	return columns > 0, nil
}
