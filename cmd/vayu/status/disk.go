// Package status determines the state of a running service for its probes, its metrics and `vayu doctor`.
package status

import "golang.org/x/sys/unix"

// DiskSpace returns the free space and the size of a directory's disk, in bytes. Both are 0 if they are unknown.
func DiskSpace(dir string) (free, size float64) {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0, 0
	}
	return float64(s.Bavail) * float64(s.Bsize), float64(s.Blocks) * float64(s.Bsize)
}
