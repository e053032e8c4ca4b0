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

	"vayu/internal/atomicfile"
)

// staging is the folder of new files. Its name begins with a dot, so that no pattern for files of a table finds them.
const staging = ".vayu-archive"

// Folder is an archive in a folder. A run writes all new files, and then the new manifest, beside the archive, and
// syncs them. After that it only renames files. Renames need no space, and the next run completes those of an
// interrupted run. A full disk or a kill therefore leaves either the last archive or the new one.
type Folder struct {
	dir  string
	lock *flock.Flock
}

// NewFolder returns the archive in a folder, which need not exist. It touches nothing on disk.
func NewFolder(dir string) *Folder {
	return &Folder{dir: dir, lock: flock.New(filepath.Join(dir, staging+".lock"))}
}

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

// List implements Place.
func (f *Folder) List(context.Context) (map[string]int64, error) {
	all := map[string]int64{}
	err := filepath.WalkDir(f.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(f.dir, path)
		if err != nil || !archived(filepath.ToSlash(name)) {
			return err
		}
		info, err := d.Info()
		if err == nil {
			all[filepath.ToSlash(name)] = info.Size()
		}
		return err
	})
	return all, err
}

// acquire locks the folder for writing.
func (f *Folder) acquire() error {
	if err := os.MkdirAll(f.dir, 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return err
	}
	free, err := f.lock.TryLock()
	if err == nil && !free {
		err = fmt.Errorf("%s: %w", f.dir, ErrBusy)
	}
	return err
}

// Begin implements Place. It locks the folder until End, and completes or removes what an interrupted run has left.
func (f *Folder) Begin(context.Context) error {
	if err := f.acquire(); err != nil {
		return err
	}
	err := f.recover()
	if err == nil {
		err = os.RemoveAll(filepath.Join(f.dir, staging))
	}
	if err != nil {
		err = errors.Join(err, f.lock.Unlock())
	}
	return err
}

// Settle implements Place. It locks the folder only to complete a run, because a reader may lack the right to write.
func (f *Folder) Settle(context.Context) error {
	if !f.interrupted() {
		return nil
	}
	if err := f.acquire(); err != nil {
		return err
	}
	return errors.Join(f.recover(), f.lock.Unlock())
}

// interrupted reports whether a run ended between writing its new manifest and its last rename. If the caller does
// not have the lock, that run can also be in progress.
func (f *Folder) interrupted() bool {
	_, err := os.Stat(f.staged(ManifestName))
	return err == nil
}

// recover completes an interrupted run. The caller has locked the folder.
func (f *Folder) recover() error {
	if !f.interrupted() {
		return nil
	}
	return f.complete()
}

// Put implements Place. It also makes the final folder of the file, so that the later rename needs no disk space.
func (f *Folder) Put(_ context.Context, path string, write func(io.Writer) error) (Stored, error) {
	if err := os.MkdirAll(filepath.Dir(f.path(path)), 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return Stored{}, err
	}
	s, err := create(f.staged(path), write)
	s.Path = path
	return s, err
}

// create writes a new file, and syncs it.
func create(path string, write func(io.Writer) error) (s Stored, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // an archive is for others to read
		return s, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644) //nolint:gosec // the same
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	hash, buffer := sha256.New(), bufio.NewWriterSize(file, 256<<10)
	if err := write(io.MultiWriter(buffer, hash)); err != nil {
		return s, err
	}
	if err := buffer.Flush(); err != nil {
		return s, err
	}
	info, err := file.Stat()
	if err != nil {
		return s, err
	}
	return Stored{Bytes: info.Size(), SHA256: hex.EncodeToString(hash.Sum(nil))}, file.Sync()
}

// Commit implements Place. It writes the new manifest under a temporary name and syncs the folders, so that all new
// files survive a crash. Then it renames the manifest, which lists these files.
func (f *Folder) Commit(_ context.Context, manifest []byte) error {
	unfinished := f.staged(ManifestName) + ".new"
	_, err := create(unfinished, func(w io.Writer) error { _, err := w.Write(manifest); return err })
	if err == nil {
		err = syncTree(filepath.Join(f.dir, staging))
	}
	if err == nil {
		err = os.Rename(unfinished, f.staged(ManifestName))
	}
	if err == nil {
		err = atomicfile.SyncFolder(filepath.Join(f.dir, staging))
	}
	if err != nil {
		return err
	}
	return f.complete()
}

// complete renames the temporary files to their final names, and then the manifest. It is idempotent.
func (f *Folder) complete() error {
	var after Manifest
	text, err := os.ReadFile(f.staged(ManifestName))
	if err == nil {
		err = json.Unmarshal(text, &after)
	}
	if err != nil {
		return fmt.Errorf("reading the new manifest: %w", err)
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
	return os.RemoveAll(filepath.Join(f.dir, staging))
}

// move moves a staged file, if there is one, to its final path, and syncs the folders above it.
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
	for dir := filepath.Dir(to); ; dir = filepath.Dir(dir) {
		if err := atomicfile.SyncFolder(dir); err != nil || dir == filepath.Clean(f.dir) {
			return err
		}
	}
}

// syncTree syncs the folders of a tree, because a synced file is lost if its name in the folder is not on disk.
func syncTree(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = atomicfile.SyncFolder(path)
		}
		return err
	})
}

// Remove implements Place.
func (f *Folder) Remove(_ context.Context, paths []string) error {
	for _, path := range paths {
		if err := os.Remove(f.path(path)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// End implements Place. If the run has written its manifest, End keeps the run's files for the next run to rename.
func (f *Folder) End(context.Context) error {
	if f.interrupted() {
		return f.lock.Unlock()
	}
	return errors.Join(os.RemoveAll(filepath.Join(f.dir, staging)), f.lock.Unlock())
}
