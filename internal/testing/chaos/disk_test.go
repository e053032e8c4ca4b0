package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// disk is a small file system in memory for the data of one process.
type disk struct{ folder, size, mode string }

// smallDisks are the folders with a disk of their own, which a fault can fill; this needs root.
// They belong to an API instance, ClickHouse, PostgreSQL and one broker. A whole run needs less
// than half of each.
var smallDisks = map[string]disk{
	"api-2":    {"api-2", "64m", "0700"},
	"engine":   {"engine", "1g", "0700"},
	"postgres": {"pg-disk", "2g", "0755"}, // PostgreSQL runs as another user, and has a subfolder
	"broker-2": {"kafka/2/data", "512m", "0700"},
}

// mountDisks mounts the small disks on empty folders.
func (c *Cluster) mountDisks(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, d := range smallDisks {
		folder := filepath.Join(c.Dir, d.folder)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making %s: %w", folder, err)
		}
		if err := tool(ctx, "mount", "-t", "tmpfs", "-o", "size="+d.size+",mode="+d.mode, "tmpfs", folder); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoDisk means that a process has no separate disk.
var ErrNoDisk = errors.New("only root can give a process a small disk of its own, to fill it")

// FillDisk fills the disk of api-2, engine, postgres or broker-2. free releases the space.
func (c *Cluster) FillDisk(name string) (free func() error, err error) {
	if os.Geteuid() != 0 || smallDisks[name].folder == "" {
		return nil, ErrNoDisk
	}
	path := filepath.Join(c.Dir, smallDisks[name].folder, "filled")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("filling the disk of %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 1<<16); len(chunk) > 0; {
		if _, err = f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk, err = chunk[:len(chunk)/2], nil // smaller pieces fill the disk to the last byte
		}
		if err != nil {
			return nil, fmt.Errorf("filling the disk of %s: %w", name, err)
		}
	}
	return func() error { return os.Remove(path) }, nil
}
