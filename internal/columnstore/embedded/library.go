package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"vayu/internal/config"
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

// UnsafeLibraryError says that a file was found that others than its user could have put there.
type UnsafeLibraryError struct {
	Path, Reason string
}

// Error says what is wrong with the file.
func (e *UnsafeLibraryError) Error() string {
	return fmt.Sprintf("the ClickHouse engine's library %s is not loaded: %s; type 'npm ci' in the project's folder, or name another file with --engine-library PATH", e.Path, e.Reason)
}

// searched are folders whose node_modules hold the library, beside those of the executable.
var searched []string

// SearchIn adds a folder to those whose node_modules [FindLibrary] looks into. It is for tests, whose executable lies
// in a temporary folder.
func SearchIn(dir string) { searched = append(searched, dir) }

// FindLibrary returns the path of libchdb. A given path is the only one looked at; otherwise the search goes beside
// the executable, and in the node_modules beside and above it. The working directory is never searched: whoever could
// write there would run code with the rights of the caller. The error is a [*MissingLibraryError], or an
// [*UnsafeLibraryError] for a file that other users can change.
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
		for _, dir := range searched {
			candidates = append(candidates, inModules(dir))
		}
	}
	for _, path := range candidates {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if path, err = filepath.Abs(path); err != nil {
			return "", fmt.Errorf("finding the engine's library: %w", err)
		}
		if reason := config.Exposed(path); reason != "" {
			return "", &UnsafeLibraryError{path, reason}
		}
		return path, nil
	}
	return "", &MissingLibraryError{Looked: candidates}
}

// libraryHashes are the SHA-256 of libchdb of [LibraryVersion], by the npm package that carries it. A package without
// one is not on the registry today.
var libraryHashes = map[string]string{
	"lib-linux-x64-gnu": "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5",
}

// verifyLibrary compares a library that was found, not given, with the pinned version. Reading its 566 MB takes half a
// second.
func verifyLibrary(path string) error {
	want, pinned := libraryHashes[platformPackage()]
	if !pinned {
		return nil
	}
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading the engine's library: %w", err)
	}
	defer func() { _ = file.Close() }()
	hash := sha256.New()
	if _, err := io.Copy(hash, file); err != nil {
		return fmt.Errorf("reading the engine's library: %w", err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return &UnsafeLibraryError{path, fmt.Sprintf("its SHA-256 is %s, and that of version %s is %s", got, LibraryVersion, want)}
	}
	return nil
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
