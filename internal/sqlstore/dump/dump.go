// Package dump writes the state store to files, and loads such files into a store of either engine.
package dump

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"vayu/internal/backupfile"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/migration"
)

const (
	// format names the layout of a dump. A change of the layout must change the name.
	format      = "vayu-state-1"
	tableSuffix = ".ndjson.zst"
)

// Manifest describes the content of a dump.
type Manifest struct {
	Format  string    `json:"format"`
	Version int64     `json:"version"` // version of the tables: the number of the newest migration
	Engine  string    `json:"engine"`  // engine of the dumped store; both engines can load the dump
	Made    time.Time `json:"made"`    // UTC
	Tables  []Table   `json:"tables"`  // in the order in which they can be filled
}

// Table describes one file of a dump, with the rows of one table.
type Table struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // checksum of the file, hexadecimal
}

// Rows returns the number of rows of the dump.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// Write writes the store into dir, which must be empty or new. It writes one file for each table but
// commit_proof, and then manifest.json, so that a dump with a manifest is complete. The dump is a consistent
// snapshot. Other processes can write to the store meanwhile. The files are readable by their owner only.
func Write(ctx context.Context, db *sqlstore.DB, dir string) (Manifest, error) {
	if err := backupfile.NewFolder(dir); err != nil {
		return Manifest{}, err
	}
	snapshot, err := db.Snapshot(ctx)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = snapshot.Rollback() }() // read-only
	stored, err := migration.Version(ctx, snapshot)
	if err != nil {
		return Manifest{}, err
	}
	all, at, err := tables(ctx, stored)
	if err != nil {
		return Manifest{}, err
	}
	if stored != at {
		return Manifest{}, fmt.Errorf("the state store is at version %d, and this program's is %d", stored, at)
	}
	m := Manifest{Format: format, Version: at, Engine: db.Name(), Made: time.Now().UTC().Truncate(time.Second)}
	for _, t := range all {
		written, err := dumpTable(ctx, snapshot, t, dir)
		if err != nil {
			return Manifest{}, fmt.Errorf("dumping table %q: %w", t.name, err)
		}
		m.Tables = append(m.Tables, written)
	}
	return m, backupfile.WriteManifest(dir, m)
}

func dumpTable(ctx context.Context, from *sql.Tx, t table, dir string) (Table, error) {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(t.key, ", ") //nolint:gosec // names from the migrations
	rows, err := from.QueryContext(ctx, query)                                                                    //nolint:rowserrcheck // writeRows does
	if err != nil {
		return Table{}, err
	}
	defer rows.Close()
	done := Table{Name: t.name, File: t.name + tableSuffix}
	sum, err := backupfile.Write(filepath.Join(dir, done.File), func(w io.Writer) error {
		done.Rows, err = writeRows(w, rows, newCells(t.columns))
		return err
	})
	done.SHA256 = sum.SHA256
	return done, err
}

func writeRows(w io.Writer, rows *sql.Rows, row cells) (n int64, err error) {
	var line []byte
	for rows.Next() {
		if err := rows.Scan(row.dest...); err != nil {
			return n, err
		}
		if line, err = row.appendJSON(line[:0]); err != nil {
			return n, fmt.Errorf("row %d: %w", n+1, err)
		}
		if _, err := w.Write(line); err != nil {
			return n, err
		}
		n++
	}
	return n, rows.Err()
}
