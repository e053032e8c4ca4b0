package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"vayu/internal/backupfile"
)

const (
	// dumpFormat names the layout of a dump; another layout gets another name.
	dumpFormat  = "vayu-state-1"
	tableSuffix = ".ndjson.zst"
)

// Manifest describes a dump.
type Manifest struct {
	Format  string          `json:"format"`
	Version int64           `json:"version"` // of the tables: the number of the newest migration
	Engine  string          `json:"engine"`  // source engine; a dump can be loaded into both
	Made    time.Time       `json:"made"`    // UTC
	Tables  []ManifestTable `json:"tables"`  // in the order in which they can be filled
}

// ManifestTable is one file of a dump.
type ManifestTable struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of the file, hexadecimal
}

// Rows returns the number of rows of the dump.
func (m Manifest) Rows() (n int64) {
	for _, t := range m.Tables {
		n += t.Rows
	}
	return n
}

// Dump writes the whole store into dir, which must be empty or new. It writes one file for each table and
// manifest.json last, so that a dump with a manifest is complete. It is a consistent snapshot; writers
// continue. The files are readable by their owner only.
func (db *DB) Dump(ctx context.Context, dir string) (Manifest, error) {
	if err := backupfile.NewFolder(dir); err != nil {
		return Manifest{}, err
	}
	snapshot, err := db.snapshot(ctx)
	if err != nil {
		return Manifest{}, View{ctx, db}.classify(err)
	}
	defer func() { _ = snapshot.Rollback() }() // read-only
	stored, err := version(ctx, snapshot)
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
	m := Manifest{Format: dumpFormat, Version: at, Engine: db.Name(), Made: time.Now().UTC().Truncate(time.Second)}
	for _, t := range all {
		written, err := dumpTable(ctx, snapshot, t, dir)
		if err != nil {
			return Manifest{}, fmt.Errorf("dumping table %q: %w", t.name, err)
		}
		m.Tables = append(m.Tables, written)
	}
	return m, backupfile.WriteManifest(dir, m)
}

// snapshot begins a transaction with a consistent snapshot.
func (db *DB) snapshot(ctx context.Context) (*sql.Tx, error) {
	options := &sql.TxOptions{ReadOnly: true}
	if db.Name() == "postgres" {
		options.Isolation = sql.LevelRepeatableRead
	}
	tx, err := db.engine.reader().BeginTx(ctx, options)
	if err != nil {
		return nil, err
	}
	if db.Name() == "postgres" { // a large table takes longer than the timeout of a request
		if _, err := tx.ExecContext(ctx, "SET LOCAL statement_timeout = 0"); err != nil {
			_ = tx.Rollback()
			return nil, err
		}
	}
	return tx, nil
}

func dumpTable(ctx context.Context, from *sql.Tx, t table, dir string) (ManifestTable, error) {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	query := "SELECT " + strings.Join(names, ", ") + " FROM " + t.name + " ORDER BY " + strings.Join(t.key, ", ") //nolint:gosec // names from the migrations
	rows, err := from.QueryContext(ctx, query)                                                                    //nolint:rowserrcheck // writeRows does
	if err != nil {
		return ManifestTable{}, err
	}
	defer rows.Close()
	done := ManifestTable{Name: t.name, File: t.name + tableSuffix}
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
