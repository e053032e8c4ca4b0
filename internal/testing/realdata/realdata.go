// Package realdata finds files with real data that tests use. They are outside the repository, in
// ../shared/data, because some of them may not be redistributed.
package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// Checkout returns the folder of the go.mod above the working directory. It panics if there is none.
func Checkout() string {
	for dir, err := os.Getwd(); err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	panic("no go.mod above the working directory")
}

// Path returns the path of a file with real data. The parameter `name` is relative to the data folder, such as
// "cpcb/city_day.csv". If the file is missing, Path skips the test, or fails it if the variable CI is set.
func Path(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(Checkout(), "..", "shared", "data", filepath.FromSlash(name))
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatalf("a real file that CI must have is missing: %v", err)
		}
		tb.Skipf("the real data are not beside the checkout: %v", err)
	}
	return path
}
