package console

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// File is a file of results. It has a temporary name until it is complete.
type File struct {
	*os.File

	path string // final name; "" for an existing file that is no regular file, and has no temporary name
}

// Create creates the file of results `path`, under a temporary name in the same folder. If `path` exists and is no
// regular file, such as /dev/null, Create writes directly to it.
func Create(path string) (*File, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := os.FileMode(0o666) // before the umask
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return nil, fmt.Errorf("writing the result: %w", err)
		}
		return &File{File: file}, nil
	}
	if err == nil { // a file that only its owner can read stays so
		mode = info.Mode().Perm()
	}
	file, err := os.OpenFile(path+"."+rand.Text()[:6]+".partial", os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fmt.Errorf("writing the result: %w", err)
	}
	return &File{File: file, path: path}, nil
}

// Finish renames a complete file to its final name. If `failed` is not nil, it removes the file and returns `failed`.
// It does not call fsync, which takes a sixth of the time of an Arrow export. After a crash, the query can be repeated.
func (f *File) Finish(failed error) error {
	if f.path == "" {
		return errors.Join(failed, f.Close())
	}
	failed = errors.Join(failed, f.Close())
	if failed == nil {
		failed = os.Rename(f.Name(), f.path)
	}
	if failed != nil {
		_ = os.Remove(f.Name())
	}
	return failed
}
