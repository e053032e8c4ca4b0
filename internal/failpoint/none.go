//go:build !crash

package failpoint

// Point is a no-op without the build tag crash.
func Point(string) {}
