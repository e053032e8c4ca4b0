// Package atomicfile replaces files. Even after a power failure, a file has either its earlier or its new content.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces a file with the output of `write`, or creates it. Only its owner can access the file. A kill can leave a
// second file, with a random end of its name.
func Write(path string, write func(file *os.File) error) error {
	dir := filepath.Dir(path)
	file, err := os.CreateTemp(dir, filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // fails after the rename, which is harmless
	if err := errors.Join(write(file), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	return SyncFolder(dir)
}

// SyncFolder flushes a folder to disk, so that new and renamed files in it survive a crash.
func SyncFolder(dir string) error {
	folder, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
