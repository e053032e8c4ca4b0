//go:build !linux

package fence

// Version is 0: only Linux has Landlock.
func Version() int { return 0 }

func restrict(Rules, string) error { return nil }
