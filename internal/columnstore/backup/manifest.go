package backup

import (
	"fmt"
	"path/filepath"
	"strconv"
	"time"

	"vayu/internal/backupfile"
	"vayu/internal/columnstore/migration"
)

// Manifest describes a backup. It is the file manifest.json, which is written last. Without it a backup is incomplete.
type Manifest struct {
	Format     int        `json:"format"`     // formatVersion of the program that wrote the backup
	ClickHouse string     `json:"clickhouse"` // version of the ClickHouse that was read
	Began      time.Time  `json:"began"`      // UTC
	Ended      time.Time  `json:"ended"`      // UTC
	Databases  []Database `json:"databases"`
}

// Database lists the migrations and tables of one database in a backup.
type Database struct {
	Name       string             `json:"name"`
	Migrations []migration.Record `json:"migrations"` // that were applied
	Tables     []Table            `json:"tables"`     // in the order in which they were read
	// Skipped are tables of the database that no migration defines.
	Skipped []string `json:"skipped,omitempty"`
}

// Table lists the columns and files of one table in a backup.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"`
	Files   []File   `json:"files"`
}

// File is a file with one partition of a table, in ClickHouse's Native format and zstd. ClickHouse's function file()
// can read it.
type File struct {
	Path      string `json:"path"`      // relative to the manifest, with slashes
	Partition string `json:"partition"` // its id in ClickHouse
	Rows      uint64 `json:"rows"`
	Hash      hash   `json:"hash"`   // of the rows' contents in any order: sum(cityHash64(tuple(columns)))
	Bytes     int64  `json:"bytes"`  // of the file
	SHA256    string `json:"sha256"` // of the file, hexadecimal
	// Raw is the size before compression, in bytes.
	Raw int64 `json:"raw"`
}

// hash is a 64-bit hash. In JSON it is hexadecimal text, because not every JSON reader preserves a 64-bit number.
type hash uint64

// MarshalText implements encoding.TextMarshaler.
func (h hash) MarshalText() ([]byte, error) { return fmt.Appendf(nil, "%016x", uint64(h)), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (h *hash) UnmarshalText(text []byte) error {
	n, err := strconv.ParseUint(string(text), 16, 64)
	*h = hash(n)
	return err
}

// Rows returns the number of rows of the table in the backup.
func (t Table) Rows() (rows uint64) {
	for _, f := range t.Files {
		rows += f.Rows
	}
	return rows
}

// Size returns the sums over a backup: tables, rows, bytes of files, and their bytes before compression (raw).
func (m Manifest) Size() (tables int, rows uint64, bytes, raw int64) {
	for _, d := range m.Databases {
		tables += len(d.Tables)
		for _, t := range d.Tables {
			rows += t.Rows()
			for _, f := range t.Files {
				bytes += f.Bytes
				raw += f.Raw
			}
		}
	}
	return tables, rows, bytes, raw
}

// formatVersion is the version of the format of backups. A change that older programs cannot read increases it.
const formatVersion = 1

// ReadManifest reads the manifest of the backup in dir. It fails if the manifest is missing (the backup is then
// incomplete), damaged, or of a newer program.
func ReadManifest(dir string) (m Manifest, err error) {
	if err := backupfile.ReadManifest(dir, &m); err != nil {
		return Manifest{}, err
	}
	if err := m.validate(); err != nil {
		return Manifest{}, fmt.Errorf("%s: %w", filepath.Join(dir, backupfile.Manifest), err)
	}
	return m, nil
}

func (m Manifest) validate() error {
	if m.Format < 1 || m.Format > formatVersion {
		return fmt.Errorf("the backup is of format %d, and this program reads %d only; upgrade the program", m.Format, formatVersion)
	}
	for _, d := range m.Databases {
		for _, t := range d.Tables {
			if !migration.IsName(d.Name) || !migration.IsName(t.Name) {
				return fmt.Errorf("it is damaged: %q.%q is no name of a table", d.Name, t.Name)
			}
			for _, f := range t.Files {
				if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
					return fmt.Errorf("it is damaged: %q is no path inside the backup", f.Path)
				}
			}
			for _, c := range t.Columns {
				if !migration.IsName(c) {
					return fmt.Errorf("it is damaged: %q is no name of a column", c)
				}
			}
		}
	}
	return nil
}
