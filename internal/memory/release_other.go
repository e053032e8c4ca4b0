//go:build !linux

package memory

// ReleaseFiles does nothing, because only Linux lists the mappings of a process in a file.
func ReleaseFiles(...string) error { return nil }
