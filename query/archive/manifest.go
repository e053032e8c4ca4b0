// Package archive copies air quality tables into monthly Parquet files in a folder or a bucket, in the layout of Hive:
//
//	manifest.json
//	station/station.parquet
//	reading/year=2026/month=11/reading-2026-11.parquet
//
// A run writes the months that have changed. A run that fails leaves the archive as it was. Restore fills an empty
// installation from an archive.
package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"vayu/query/dataset"
)

// ManifestName is the path of the manifest in an archive.
const ManifestName = "manifest.json"

// formatVersion is the version of the archive's format. Increase it if earlier programs can no longer read an archive.
const formatVersion = 1

// Manifest lists the tables and files of an archive.
type Manifest struct {
	Format int       `json:"format"`
	Vayu   string    `json:"vayu"` // version of the program that wrote it
	World  string    `json:"world"`
	Made   time.Time `json:"made"` // UTC
	Run    string    `json:"run"`  // distinguishes the run from all others
	Tables []Table   `json:"tables"`
}

// Table describes a table in an archive: its columns, licences and files.
type Table struct {
	Name     string            `json:"name"`
	Columns  []Column          `json:"columns"`
	Licences []dataset.Licence `json:"licences,omitempty"`
	Files    []File            `json:"files"`
}

// Column describes a column of a table in an archive.
type Column struct {
	Name    string `json:"name"`
	Type    string `json:"type"` // in ClickHouse
	Comment string `json:"comment"`
}

// File is the file of a month, or of a table without time.
type File struct {
	Path  string `json:"path"`            // relative to the manifest, with slashes
	Month string `json:"month,omitempty"` // such as 2026-11, UTC; "" for a table without time
	Rows  uint64 `json:"rows"`
	Bytes int64  `json:"bytes"`
	// SHA256 is the checksum of the file, hexadecimal.
	SHA256 string `json:"sha256"`
	// Version identifies the rows in the file. A run writes the file again if the rows have another version.
	Version string `json:"version"`
}

// Rows returns the number of rows of all tables.
func (m *Manifest) Rows() (n uint64) {
	for i := range m.Tables {
		n += m.Tables[i].Rows()
	}
	return n
}

// Rows returns the number of rows of a table.
func (t *Table) Rows() (n uint64) {
	for _, f := range t.Files {
		n += f.Rows
	}
	return n
}

// has reports whether the manifest has a file with a path.
func (m *Manifest) has(path string) bool {
	return slices.ContainsFunc(m.Tables, func(t Table) bool {
		return slices.ContainsFunc(t.Files, func(f File) bool { return f.Path == path })
	})
}

// table returns the table with a name; a zero Table if the manifest lacks it.
func (m *Manifest) table(name string) Table {
	if i := slices.IndexFunc(m.Tables, func(t Table) bool { return t.Name == name }); i >= 0 {
		return m.Tables[i]
	}
	return Table{}
}

// month returns the file of a month; false if the table has none.
func (t *Table) month(month string) (File, bool) {
	if i := slices.IndexFunc(t.Files, func(f File) bool { return f.Month == month }); i >= 0 {
		return t.Files[i], true
	}
	return File{}, false
}

// ReadManifest reads the manifest of an archive. The error is [ErrMissing] if there is none. A manifest that cannot be
// parsed is an error, too.
func ReadManifest(ctx context.Context, place Reader) (Manifest, error) {
	in, err := place.Open(ctx, ManifestName)
	if err != nil {
		return Manifest{}, err
	}
	defer func() { _ = in.Close() }()
	return parse(in)
}

// parse reads a manifest, and checks it.
func parse(in io.Reader) (m Manifest, err error) {
	const most = 64 << 20
	text, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return m, fmt.Errorf("reading %s: %w", ManifestName, err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("%s is damaged: %w", ManifestName, err)
	}
	if m.Format < 1 || m.Format > formatVersion {
		return m, fmt.Errorf("the archive has the format %d, and this program reads %d only; upgrade the program", m.Format, formatVersion)
	}
	for _, t := range m.Tables {
		for _, f := range t.Files {
			if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
				return m, fmt.Errorf("%s is damaged: %q is no path inside the archive", ManifestName, f.Path)
			}
		}
	}
	return m, nil
}

// open completes an interrupted run (Reader.Settle), and reads the manifest. It fails if the first run has not ended.
func open(ctx context.Context, place Reader) (Manifest, error) {
	if err := place.Settle(ctx); err != nil {
		return Manifest{}, fmt.Errorf("completing the archive: %w", err)
	}
	m, err := ReadManifest(ctx, place)
	if err == nil && len(m.Tables) == 0 {
		err = errors.New("the archive is empty: its first run has not ended")
	}
	return m, err
}
