//go:build !crash

package failpoint

// Point does nothing in a program that is built without the tag crash.
func Point(string) {}
