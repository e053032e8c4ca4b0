package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"vayu/ingest"
	"vayu/ingest/source/file/walk"
)

// Folder is a watched folder. Each Fetch reads the files that are new or have changed since the last Fetch. Folder
// keeps the state of the files only in memory. So after a restart it reads all files again, which is harmless because
// storing is idempotent.
type Folder struct {
	name   string
	config Config
	clock  func() time.Time
	// described are the file formats that descriptions (YAML) define.
	described []Format
	seen      map[string]entry
	closed    map[string]bool // paths that the last fetch could not read
}

// entry is the state of a file when Folder read it. If the file later has another state, it has changed.
type entry struct {
	path string
	info fs.FileInfo
}

// same reports whether two states belong to the same, unchanged file.
func (e entry) same(other entry) bool {
	return e.info != nil && other.info != nil && os.SameFile(e.info, other.info) &&
		e.info.Size() == other.info.Size() && e.info.ModTime().Equal(other.info.ModTime())
}

// Fetch reads new and changed files. If a file cannot be read, Fetch continues with the others. Its error names all
// files that could not be read. A file with invalid content is reported again only after a change. An unreadable
// subfolder is reported only by the first fetch that finds it.
func (f *Folder) Fetch(ctx context.Context, w ingest.Window, yield func(*ingest.Batch) error) error {
	files, faults, err := f.list(ctx)
	if err != nil {
		return fmt.Errorf("reading folder %q: %w", f.config.Folder, err)
	}
	for _, e := range files {
		passed := true
		err := f.file(ctx, e, w, func(b *ingest.Batch) error {
			err := yield(b)
			passed = passed && err == nil
			return err
		})
		if !passed || ctx.Err() != nil {
			f.closed = nil // the next fetch reports unreadable paths again
		}
		if !passed {
			return err
		}
		if ctx.Err() != nil {
			return errors.Join(ctx.Err(), err)
		}
		if err != nil {
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// file reads one file. Then it stores the state of the file, so that the next fetch skips the file. It does not store
// the state if the file has changed meanwhile, or after an error that is not an [*ingest.BatchError].
func (f *Folder) file(ctx context.Context, e entry, w ingest.Window, yield func(*ingest.Batch) error) error {
	one, err := Open(f.name, e.path, 0, f.clock, f.described)
	if err == nil {
		err = one.Fetch(ctx, w, yield)
	}
	var refused *ingest.BatchError
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	if info, statErr := os.Stat(e.path); statErr == nil && e.same(entry{e.path, info}) {
		f.seen[e.path] = e
	}
	return err
}

// list returns the new and changed files, oldest first, and drops the state of deleted files. It skips unreadable paths
// and files that may still be written. `faults` has the paths that have become unreadable since the last call.
func (f *Folder) list(ctx context.Context) (fresh []entry, faults []error, err error) {
	present, closed := make(map[string]bool), make(map[string]bool)
	skip := func(path string, err error) {
		if errors.Is(err, fs.ErrNotExist) {
			return // the file was deleted meanwhile
		}
		closed[path] = true
		if !f.closed[path] {
			faults = append(faults, &ingest.BatchError{Reason: ingest.Unreadable, Detail: err.Error()})
		}
	}
	settled := f.clock().Add(-f.config.Settle)
	err = walk.Files(ctx, f.config.Folder, func(path string, info fs.FileInfo) error {
		present[path] = true
		if e := (entry{path, info}); !f.seen[path].same(e) && !info.ModTime().After(settled) {
			fresh = append(fresh, e)
		}
		return nil
	}, skip)
	if err != nil {
		return nil, nil, err
	}
	f.closed = closed
	for path := range f.seen {
		if !present[path] {
			delete(f.seen, path)
		}
	}
	slices.SortStableFunc(fresh, func(a, b entry) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return fresh, faults, nil
}
