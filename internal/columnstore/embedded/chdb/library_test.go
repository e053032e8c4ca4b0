package chdb

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A library in or above the working directory is not loaded, because another user could place code there.
func TestWorkingDirectoryIsNotSearched(t *testing.T) {
	was := searched
	searched = nil
	t.Cleanup(func() { searched = was })
	dir := t.TempDir()
	planted := inModules(dir)
	if err := os.MkdirAll(filepath.Dir(planted), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(planted, []byte("code"), 0o755); err != nil {
		t.Fatal(err)
	}
	below := filepath.Join(dir, "mine")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(below)
	path, err := FindLibrary("")
	if _, missing := errors.AsType[*MissingLibraryError](err); !missing {
		t.Errorf("found %q, %v", path, err)
	}
}

func TestUnsafeLibraryIsRejected(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), libraryFile())
	if err := os.WriteFile(path, []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := FindLibrary(path)
	if unsafe, ok := errors.AsType[*UnsafeLibraryError](err); !ok {
		t.Errorf("got %v, want an UnsafeLibraryError", err)
	} else if !strings.Contains(unsafe.Error(), "can be written by every user") {
		t.Errorf("got %v, want that every user can write the library", unsafe)
	}
}

// The pinned hash is that of the library in package-lock.json.
func TestLibraryIsThePinnedVersion(t *testing.T) {
	t.Parallel()
	path, err := FindLibrary("")
	if err != nil {
		t.Skip(err)
	}
	if err := Verify(path); err != nil {
		t.Error(err)
	}
	other := filepath.Join(t.TempDir(), libraryFile())
	if err := os.WriteFile(other, []byte("code"), 0o600); err != nil {
		t.Fatal(err)
	}
	err = Verify(other)
	if _, unsafe := errors.AsType[*UnsafeLibraryError](err); libraryHashes[platformPackage()] != "" && !unsafe {
		t.Errorf("another file: %v", err)
	}
}
