package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	clickhouse "github.com/ClickHouse/clickhouse-go/v2"

	"vayu/internal/backupfile"
	"vayu/internal/columnstore/migration"
	"vayu/schema/statement"
)

// Restore loads the backup in dir into `databases`. The tables of the backup must be absent or empty. Restore first
// verifies every file. Then it creates the tables in the version of the backup, inserts the rows, compares them with
// the manifest, and applies newer migrations. If Restore fails after the verification, it empties the tables again.
func Restore(ctx context.Context, db Store, databases []migration.Params, dir string) (m Manifest, err error) {
	r := &restore{db: db, dir: dir, databases: databases}
	if m, err = ReadManifest(dir); err == nil {
		err = r.run(ctx, m)
	}
	if err != nil {
		return m, fmt.Errorf("restoring ClickHouse: %w", err)
	}
	return m, nil
}

type restore struct {
	db        Store
	dir       string
	databases []migration.Params
}

func (r *restore) run(ctx context.Context, m Manifest) error {
	targets := make([]migration.Params, len(m.Databases))
	for i, d := range m.Databases {
		at := slices.IndexFunc(r.databases, func(p migration.Params) bool { return p.Database == d.Name })
		if at < 0 {
			return fmt.Errorf("the backup has a database %s, which this program does not know", d.Name)
		}
		targets[i] = r.databases[at]
		if err := migration.Verify(targets[i].Files, d.Migrations); err != nil {
			return err
		}
		if err := r.checkEmpty(ctx, d); err != nil {
			return err
		}
	}
	if err := r.verifyFiles(ctx, m); err != nil {
		return err
	}
	for i, d := range m.Databases {
		if err := r.database(ctx, d, targets[i]); err != nil {
			return errors.Join(fmt.Errorf("database %s: %w", d.Name, err), r.clear(ctx, m.Databases[:i+1], targets))
		}
	}
	return nil
}

// checkEmpty fails when a table of the backup already has rows.
func (r *restore) checkEmpty(ctx context.Context, d Database) error {
	present, err := names(ctx, r.db.Conn(), "SELECT name FROM system.tables WHERE database = {database:String}", clickhouse.Named("database", d.Name))
	if err != nil {
		return err
	}
	for _, name := range present {
		if name == "migration" || !slices.ContainsFunc(d.Tables, func(t Table) bool { return t.Name == name }) {
			continue
		}
		var rows uint64
		if err := r.db.Conn().QueryRow(ctx, "SELECT count() FROM "+statement.QuoteName(d.Name, name)).Scan(&rows); err != nil {
			return err
		}
		if rows > 0 {
			return fmt.Errorf("%s.%s has %d rows: a backup is restored into an empty installation only", d.Name, name, rows)
		}
	}
	return nil
}

// verifyFiles returns an error unless every file has the checksum in the manifest.
func (r *restore) verifyFiles(ctx context.Context, m Manifest) error {
	for _, d := range m.Databases {
		for _, t := range d.Tables {
			for _, f := range t.Files {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := backupfile.Verify(r.path(f), f.SHA256); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *restore) path(f File) string { return filepath.Join(r.dir, filepath.FromSlash(f.Path)) }

func (r *restore) database(ctx context.Context, d Database, p migration.Params) error {
	if err := migration.ApplyOnly(ctx, r.db, p, d.Migrations); err != nil {
		return err
	}
	for _, t := range slices.Backward(d.Tables) { // in the order of their creation: sources before derived tables
		if err := r.table(ctx, d.Name, t); err != nil {
			return fmt.Errorf("table %s: %w", t.Name, err)
		}
	}
	return migration.Apply(ctx, r.db, p)
}

func (r *restore) table(ctx context.Context, database string, t Table) error {
	// An INSERT returns when all rows of the file are stored. Each INSERT has a new deduplication token. Otherwise
	// ClickHouse could ignore rows that an earlier, failed restore has inserted and deleted.
	name, columns := statement.QuoteName(database, t.Name), columnList(t.Columns)
	for _, f := range t.Files {
		err := backupfile.Read(r.path(f), f.SHA256, func(plain io.Reader) error {
			return insertBlocks(ctx, r.db.Conn(), "INSERT INTO "+name+" ("+columns+")", plain)
		})
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	var total struct{ rows, hash uint64 }
	query := fmt.Sprintf("SELECT count(), sum(%s) FROM %s", contentHash(columns), name)
	if err := r.db.Conn().QueryRow(finalRows(ctx), query).Scan(&total.rows, &total.hash); err != nil {
		return fmt.Errorf("comparing the stored rows: %w", err)
	}
	var want hash
	for _, f := range t.Files {
		want += f.Hash
	}
	if total.rows != t.Rows() || hash(total.hash) != want {
		return fmt.Errorf("the restored rows differ from the backup: %d rows with the hash %016x, and the backup has %d with %016x",
			total.rows, total.hash, t.Rows(), uint64(want))
	}
	return nil
}

// clearTimeout limits the cleanup after a failure, which continues even if the caller's context has ended.
const clearTimeout = time.Minute

// clear empties the tables that a failed restore may have begun to fill. Before the restore they were empty.
func (r *restore) clear(ctx context.Context, databases []Database, targets []migration.Params) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), clearTimeout)
	defer cancel()
	for i, d := range databases {
		for _, t := range d.Tables {
			if err := r.db.Conn().Exec(ctx, "TRUNCATE TABLE IF EXISTS "+targets[i].LocalTable(t.Name)); err != nil {
				return fmt.Errorf("emptying %s.%s after the failure: %w", d.Name, t.Name, err)
			}
		}
	}
	return nil
}
