package backupfile_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vayu/internal/backupfile"
)

func TestFileIsReadAsWritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rows.zst")
	data := strings.Repeat("a row\n", 100_000)
	sum, err := backupfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, data); return err })
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != sum.Bytes || int(sum.Raw) != len(data) || info.Mode().Perm() != 0o600 {
		t.Errorf("the file has %v, the sum %+v: %v", info, sum, err)
	}
	var got []byte
	read := func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err }
	if err := errors.Join(backupfile.Verify(path, sum.SHA256), backupfile.Read(path, sum.SHA256, read)); err != nil || string(got) != data {
		t.Errorf("read %d bytes: %v", len(got), err)
	}
	if _, err := backupfile.Write(path, func(io.Writer) error { return nil }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing an existing file: %v", err)
	}
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "rows.zst")
	sum, err := backupfile.Write(path, func(w io.Writer) error { _, err := io.WriteString(w, "a row\n"); return err })
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-1] ^= 1
	for name, text := range map[string][]byte{"flipped": flipped, "cut": whole[:5], "longer": append(bytes.Clone(whole), 0), "empty": nil} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := backupfile.Verify(path, sum.SHA256); !errors.Is(err, backupfile.ErrDamaged) {
			t.Errorf("%s: Verify = %v", name, err)
		}
		if err := backupfile.Read(path, sum.SHA256, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err }); err == nil {
			t.Errorf("%s: Read accepted it", name)
		}
	}
}

func TestFailedFileIsRemoved(t *testing.T) {
	t.Parallel()
	dir, failed := t.TempDir(), errors.New("failed")
	if _, err := backupfile.Write(filepath.Join(dir, "rows.zst"), func(io.Writer) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("got %v", err)
	}
	if err := backupfile.NewFolder(dir); err != nil {
		t.Errorf("the file is still there: %v", err)
	}
	if err := backupfile.ReadManifest(dir, new(int)); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "no whole backup") {
		t.Errorf("a folder without a manifest: %v", err)
	}
	got := 0
	if err := errors.Join(backupfile.WriteManifest(dir, 7), backupfile.ReadManifest(dir, &got)); err != nil || got != 7 {
		t.Errorf("got %d, %v", got, err)
	}
	if err := backupfile.NewFolder(dir); err == nil {
		t.Error("a folder with a backup is accepted for another")
	}
}
