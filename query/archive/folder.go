package archive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// staging is the folder of new files. Its name begins with a dot, so that no pattern for files of a table finds them.
const staging = ".vayu-archive"

// Folder is an archive in a folder. A run writes all new files beside the archive, and syncs them. Then it writes the new
// manifest there. From then on the run is only renames, which need no space, and which the next run completes if they are
// interrupted. So a full disk or a kill leaves the last archive or the new one.
type Folder struct {
	dir  string
	lock *flock.Flock
}

// NewFolder returns the archive in a folder, which need not exist.
func NewFolder(dir string) *Folder { return &Folder{dir: dir} }

func (f *Folder) path(path string) string { return filepath.Join(f.dir, filepath.FromSlash(path)) }

func (f *Folder) staged(path string) string {
	return filepath.Join(f.dir, staging, filepath.FromSlash(path))
}

// Open implements Place.
func (f *Folder) Open(_ context.Context, path string) (io.ReadCloser, error) {
	file, err := os.Open(f.path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", f.path(path), ErrMissing)
	}
	return file, err
}

// Begin implements Place. It locks the folder until Commit or Abort.
func (f *Folder) Begin(context.Context) error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return err
	}
	f.lock = flock.New(filepath.Join(f.dir, staging+".lock"))
	if free, err := f.lock.TryLock(); err != nil || !free {
		return errors.Join(fmt.Errorf("another run writes the archive in %s", f.dir), err)
	}
	err := f.Recover()
	if err == nil {
		err = os.RemoveAll(filepath.Join(f.dir, staging))
	}
	if err != nil {
		err = errors.Join(err, f.lock.Unlock())
	}
	return err
}

// Recover completes a run that was interrupted after its new manifest was written.
func (f *Folder) Recover() error {
	if _, err := os.Stat(f.staged(ManifestName)); err != nil {
		return nil //nolint:nilerr // no such run
	}
	return f.complete()
}

// Put implements Place.
func (f *Folder) Put(_ context.Context, path string, write func(io.Writer) error) (Sum, error) {
	return create(f.staged(path), write)
}

// create writes a new file, and syncs it.
func create(path string, write func(io.Writer) error) (sum Sum, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return sum, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644) //nolint:gosec // the same
	if err != nil {
		return sum, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash, buffer := sha256.New(), bufio.NewWriterSize(file, 256<<10)
	if err := write(io.MultiWriter(buffer, hash)); err != nil {
		return sum, err
	}
	if err := buffer.Flush(); err != nil {
		return sum, err
	}
	info, err := file.Stat()
	if err != nil {
		return sum, err
	}
	return Sum{Bytes: info.Size(), SHA256: hex.EncodeToString(hash.Sum(nil))}, file.Sync()
}

// Commit implements Place.
func (f *Folder) Commit(_ context.Context, manifest []byte, _ []string) error {
	unfinished := f.staged(ManifestName) + ".new"
	if _, err := create(unfinished, func(w io.Writer) error { _, err := w.Write(manifest); return err }); err != nil {
		return errors.Join(err, f.Abort())
	}
	if err := os.Rename(unfinished, f.staged(ManifestName)); err != nil {
		return errors.Join(err, f.Abort())
	}
	return errors.Join(f.complete(), f.lock.Unlock())
}

// complete renames the staged files, and then the manifest. Then it removes files that the manifest lacks. It is
// idempotent.
func (f *Folder) complete() error {
	var before, after Manifest
	text, err := os.ReadFile(f.staged(ManifestName))
	if err == nil {
		err = json.Unmarshal(text, &after)
	}
	if err != nil {
		return fmt.Errorf("reading the new manifest: %w", err)
	}
	if text, err := os.ReadFile(f.path(ManifestName)); err == nil {
		_ = json.Unmarshal(text, &before) // a damaged manifest is replaced
	}
	for _, t := range after.Tables {
		for _, file := range t.Files {
			if err := f.move(file.Path); err != nil {
				return err
			}
		}
	}
	if err := f.move(ManifestName); err != nil {
		return err
	}
	for _, t := range before.Tables {
		for _, file := range t.Files {
			if _, still := after.file(file.Path); !still && filepath.IsLocal(filepath.FromSlash(file.Path)) {
				_ = os.Remove(f.path(file.Path)) // one that is left is in no manifest
			}
		}
	}
	return os.RemoveAll(filepath.Join(f.dir, staging))
}

// move moves a staged file to its place, if there is one, and syncs the folder.
func (f *Folder) move(path string) error {
	if _, err := os.Stat(f.staged(path)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	to := f.path(path)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return err
	}
	if err := os.Rename(f.staged(path), to); err != nil {
		return err
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}

// Abort implements Place.
func (f *Folder) Abort() error {
	return errors.Join(os.RemoveAll(filepath.Join(f.dir, staging)), f.lock.Unlock())
}
