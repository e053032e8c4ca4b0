// Package archive keeps a copy of the air as monthly Parquet files in a folder or a bucket, in the layout of Hive:
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
	"time"

	"vayu/query/dataset"
)

// ManifestName is the path of the manifest in an archive.
const ManifestName = "manifest.json"

// formatVersion is raised by each change after which earlier programs cannot read an archive.
const formatVersion = 1

// Manifest describes an archive.
type Manifest struct {
	Format int       `json:"format"`
	Vayu   string    `json:"vayu"` // version of the program that wrote it
	World  string    `json:"world"`
	Made   time.Time `json:"made"` // UTC
	Tables []Table   `json:"tables"`
}

// Table is a table of an archive.
type Table struct {
	Name     string            `json:"name"`
	Columns  []Column          `json:"columns"`
	Licences []dataset.Licence `json:"licences,omitempty"`
	Files    []File            `json:"files"`
}

// Column is a column of a table.
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
	// Version names the rows that the file was made of. A run writes the file again if the rows have another version.
	Version string `json:"version"`
}

// Rows returns the number of rows of a table.
func (t *Table) Rows() (n uint64) {
	for _, f := range t.Files {
		n += f.Rows
	}
	return n
}

// file returns the file with a path, if the manifest has it.
func (m *Manifest) file(path string) (File, bool) {
	for _, t := range m.Tables {
		for _, f := range t.Files {
			if f.Path == path {
				return f, true
			}
		}
	}
	return File{}, false
}

// ReadManifest reads the manifest of an archive. The error is [ErrMissing] if there is none.
func ReadManifest(ctx context.Context, place Place) (Manifest, error) {
	var m Manifest
	in, err := place.Open(ctx, ManifestName)
	if err != nil {
		return m, err
	}
	defer func() { _ = in.Close() }()
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

// ErrMissing means that an archive has no such file.
var ErrMissing = errors.New("the archive has no such file")

// Place is where an archive is: a folder or a bucket.
type Place interface {
	// Open reads a file. The error is ErrMissing if there is none.
	Open(ctx context.Context, path string) (io.ReadCloser, error)
	// Begin prepares a run. It completes or removes what an interrupted run has left.
	Begin(ctx context.Context) error
	// Put stores a new file, or another content of a file. A folder shows it after Commit only.
	Put(ctx context.Context, path string, write func(io.Writer) error) (Sum, error)
	// Commit shows the files that were put, then the manifest. Then it removes the files that the new manifest lacks. If it
	// fails, the last archive stays, or the next run or restore completes this one.
	Commit(ctx context.Context, manifest []byte, removed []string) error
	// Abort removes what a run has left that cannot be completed.
	Abort() error
}

// Sum is the size and the checksum of a file.
type Sum struct {
	Bytes  int64
	SHA256 string
}
