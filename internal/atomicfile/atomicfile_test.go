package atomicfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"vayu/internal/atomicfile"
)

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for _, text := range []string{"first", "second"} {
		err := atomicfile.Write(path, func(file *os.File) error { _, err := file.WriteString(text); return err })
		if err != nil {
			t.Fatal(err)
		}
		wantOnly(t, dir, text)
	}
	failed := errors.New("failed")
	err := atomicfile.Write(path, func(file *os.File) error { _, err := file.WriteString("th"); return errors.Join(err, failed) })
	if !errors.Is(err, failed) {
		t.Errorf("error %v, want that of the function", err)
	}
	wantOnly(t, dir, "second")
}

// wantOnly checks that a folder has one file, with the given text and the mode 0600.
func wantOnly(t *testing.T, dir, text string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Fatalf("the folder has %v (%v), want one file", entries, err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil || string(got) != text {
		t.Errorf("the file has %q (%v), want %q", got, err, text)
	}
	info, err := entries[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the file has the mode %v, want 0600", mode)
	}
}
