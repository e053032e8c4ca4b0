package chdb

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

// LibraryVersion is the version of the npm packages that contain libchdb.
const LibraryVersion = "26.7.3-stable.1"

// MissingLibraryError means that libchdb was not found. It lists the searched paths.
type MissingLibraryError struct {
	Searched []string // paths, in the order of the search
}

// Error returns a text that includes the command that installs libchdb.
func (e *MissingLibraryError) Error() string {
	install := "npm ci"
	if platformPackage() != "lib-linux-x64-gnu" {
		install = "npm ci && npm install --no-save @chdb/" + platformPackage() + "@" + LibraryVersion
	}
	return fmt.Sprintf("the embedded ClickHouse engine's library (%s) was not found: type '%s' in the project's folder, or name the file with --engine-library PATH; looked at:\n  %s",
		libraryFile(), install, strings.Join(e.Searched, "\n  "))
}

// BrokenLibraryError means that the file is not a libchdb for this machine.
type BrokenLibraryError struct {
	Path string
	Err  error
}

// Error returns a text that includes the command that installs libchdb.
func (e *BrokenLibraryError) Error() string {
	return fmt.Sprintf("%s cannot be loaded as the ClickHouse engine's library: %v; type 'npm ci' in the project's folder, or name another file with --engine-library PATH",
		e.Path, e.Err)
}

// Unwrap returns the error of the dynamic loader.
func (e *BrokenLibraryError) Unwrap() error { return e.Err }

// UnsafeLibraryError means that another user can change the library file, or that the file's hash is wrong.
type UnsafeLibraryError struct {
	Path, Reason string
}

// Error describes why the file is unsafe.
func (e *UnsafeLibraryError) Error() string {
	return fmt.Sprintf("the ClickHouse engine's library %s is not loaded: %s; type 'npm ci' in the project's folder, or name another file with --engine-library PATH", e.Path, e.Reason)
}

// searched has folders, besides that of the executable, whose node_modules FindLibrary searches.
var searched []string

// SearchIn adds a folder whose node_modules [FindLibrary] searches. Tests need it, because their executable is in a
// temporary folder without node_modules.
func SearchIn(dir string) { searched = append(searched, dir) }

// FindLibrary returns the path of libchdb. If `given` is not empty, FindLibrary tries only that path. Otherwise it
// searches the executable's folder, and node_modules there, in the parent folder and in those of [SearchIn]. It never
// searches the working directory, where another user could place code to run with the caller's rights. The error is a
// [*MissingLibraryError], or an [*UnsafeLibraryError] for a file that other users can change.
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
		if reason := config.UnsafeReason(path); reason != "" {
			return "", &UnsafeLibraryError{path, reason}
		}
		return path, nil
	}
	return "", &MissingLibraryError{Searched: candidates}
}

// libraryHashes has the SHA-256 of libchdb of [LibraryVersion], by npm package. The npm registry has no packages for
// other platforms today.
var libraryHashes = map[string]string{
	"lib-linux-x64-gnu": "36ad4e999882821ef13cf2d0f52c93f48e6ee1b4498b35a201c23ce4b8d15bf5",
}

// Verify compares the SHA-256 of a library with libraryHashes. It returns nil if libraryHashes lacks this
// platform. Reading the 566 MB of the library takes half a second.
func Verify(path string) error {
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

// libraryFile returns the file name of the library: libchdb.so, also in the macOS packages.
func libraryFile() string { return "libchdb.so" }

// platformPackage returns the name of this platform's npm package, without its scope.
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
