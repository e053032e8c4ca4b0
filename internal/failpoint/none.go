//go:build !crash

package failpoint

// Point does nothing in a program that is not built to be killed.
func Point(string) {}
