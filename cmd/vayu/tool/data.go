package tool

import (
	"fmt"
	"os"
	"path/filepath"
)

// RestoringName is the name of a file that marks the data directory of an incomplete restore.
const RestoringName = "restore.partial"

// CheckNotRestoring returns an error if the data directory is marked as that of an incomplete restore.
func CheckNotRestoring(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, RestoringName)); err == nil {
		return fmt.Errorf("a restore into %s is running, or was killed: in that case empty the directory and restore again", dir)
	}
	return nil
}

// MakeData creates the data directory if it does not exist. The new directory is readable by its owner only,
// because it will contain keys. For a directory of an incomplete restore, MakeData returns an error.
func MakeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return CheckNotRestoring(dir)
}

// NoData returns the error that the data directory does not exist.
func NoData(dir string) error {
	return fmt.Errorf("there is no data directory %q; name it with --data, or create one with vayu serve", dir)
}
