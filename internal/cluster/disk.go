package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// smallDisks are the folders that get a disk of their own where root starts the
// cluster, so that it can be filled, and its size: some of an instance that answers, and
// that of ClickHouse.
var smallDisks = map[string]string{"api-2": "64m", "engine": "1g"}

// mountDisks makes the small disks; they are empty folders before.
func (c *Cluster) mountDisks(ctx context.Context) error {
	if os.Geteuid() != 0 {
		return nil
	}
	for name, size := range smallDisks {
		folder := filepath.Join(c.Dir, name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return fmt.Errorf("making %s: %w", folder, err)
		}
		if err := tool(ctx, "mount", "-t", "tmpfs", "-o", "size="+size+",mode=0700", "tmpfs", folder); err != nil {
			return err
		}
	}
	return nil
}

// ErrNoDisk says that an instance has no disk of its own.
var ErrNoDisk = errors.New("only root can give a process a small disk of its own, to fill it")

// FillDisk fills the disk of an instance or of the engine; the function returned gives
// the room back.
func (c *Cluster) FillDisk(name string) (free func() error, err error) {
	if os.Geteuid() != 0 || smallDisks[name] == "" {
		return nil, ErrNoDisk
	}
	path := filepath.Join(c.Dir, name, "filled")
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("filling the disk of %s: %w", name, err)
	}
	defer func() { _ = f.Close() }()
	for chunk := make([]byte, 1<<16); len(chunk) > 0; {
		if _, err = f.Write(chunk); errors.Is(err, syscall.ENOSPC) {
			chunk, err = chunk[:len(chunk)/2], nil // to the last byte
		}
		if err != nil {
			return nil, fmt.Errorf("filling the disk of %s: %w", name, err)
		}
	}
	return func() error { return os.Remove(path) }, nil
}
