package engine

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// LibraryVersion is the version of the npm packages that carry libchdb.
const LibraryVersion = "26.7.3-stable.1"

// MissingLibraryError says that libchdb was not found, and where it was looked for.
type MissingLibraryError struct {
	Looked []string // paths, in the order of the search
}

// Error says what to type.
func (e *MissingLibraryError) Error() string {
	install := "npm ci"
	if platformPackage() != "lib-linux-x64-gnu" {
		install = "npm ci && npm install --no-save @chdb/" + platformPackage() + "@" + LibraryVersion
	}
	return fmt.Sprintf("the embedded ClickHouse engine's library (%s) was not found: type '%s' in the project's folder, or name the file with --engine-library PATH; looked at:\n  %s",
		libraryFile(), install, strings.Join(e.Looked, "\n  "))
}

// BrokenLibraryError says that a file was found that is no libchdb for this machine.
type BrokenLibraryError struct {
	Path string
	Err  error
}

// Error says what to type.
func (e *BrokenLibraryError) Error() string {
	return fmt.Sprintf("%s cannot be loaded as the ClickHouse engine's library: %v; type 'npm ci' in the project's folder, or name another file with --engine-library PATH",
		e.Path, e.Err)
}

// Unwrap returns the loader's error.
func (e *BrokenLibraryError) Unwrap() error { return e.Err }

// FindLibrary returns the path of libchdb. A given path is the only one looked at; otherwise the search goes beside
// the executable, in the node_modules beside and above it, and in those of the working directory and its parents.
func FindLibrary(given string) (string, error) {
	candidates := []string{given}
	if given == "" {
		candidates = nil
		if exe, err := os.Executable(); err == nil {
			if target, err := filepath.EvalSymlinks(exe); err == nil {
				exe = target
			}
			dir := filepath.Dir(exe)
			candidates = append(candidates, filepath.Join(dir, libraryFile()), inModules(dir), inModules(filepath.Dir(dir)))
		}
		if dir, err := os.Getwd(); err == nil {
			for ; ; dir = filepath.Dir(dir) {
				if path := inModules(dir); !slices.Contains(candidates, path) {
					candidates = append(candidates, path)
				}
				if dir == filepath.Dir(dir) {
					break
				}
			}
		}
	}
	for _, path := range candidates {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return filepath.Abs(path)
		}
	}
	return "", &MissingLibraryError{Looked: candidates}
}

func inModules(dir string) string {
	return filepath.Join(dir, "node_modules", "@chdb", platformPackage(), libraryFile())
}

// libraryFile is libchdb.so everywhere: the macOS packages keep the name.
func libraryFile() string { return "libchdb.so" }

// platformPackage names the npm package of this platform, without its scope.
func platformPackage() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	name := "lib-" + runtime.GOOS + "-" + arch
	if runtime.GOOS == "linux" {
		name += "-gnu"
	}
	return name
}
