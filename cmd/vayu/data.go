package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// restoringName marks a data directory with an incomplete restore.
const restoringName = "restore.partial"

// checkNotRestoring rejects a data directory with an incomplete restore.
func checkNotRestoring(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, restoringName)); err == nil {
		return fmt.Errorf("a restore into %s is running, or was killed: in that case empty the directory and restore again", dir)
	}
	return nil
}

// makeData creates the data directory. Only its owner may read it, because it contains keys. It rejects a
// directory with an incomplete restore.
func makeData(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making the data directory: %w", err)
	}
	return checkNotRestoring(dir)
}

func noData(dir string) error {
	return fmt.Errorf("there is no data directory %q; name it with --data, or make one with vayu serve", dir)
}
