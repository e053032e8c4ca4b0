package cluster

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// keep is a file of somebody in a folder of his.
func keep(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, []byte("ten years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestStartTakesNoFolderThatHoldsSomething(t *testing.T) {
	t.Parallel()
	dir, file := keep(t)
	if _, err := Start(t.Context(), Config{Root: t.TempDir(), Dir: dir, CA: []byte("an authority"), Out: io.Discard}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v, want that the folder is not empty", err)
	}
	if got := names(t, dir); got != filepath.Base(file) {
		t.Errorf("the folder has %s", got)
	}
}

// names are those of what is in a folder.
func names(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// Authorities are for instances of one cluster: they are in its folder, and go with it.
func TestAuthoritiesOfReceiversAreInTheFolder(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	c := Config{Dir: filepath.Join(parent, "new"), CA: []byte("an authority")}
	if err := errors.Join(claim(c.Dir), c.writeCA()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.Dir, "receivers.pem")
	if text, err := os.ReadFile(file); err != nil || string(text) != "an authority" || names(t, parent) != "new" {
		t.Errorf("%q is written (%v), and beside the folder there is %s", text, err, names(t, parent))
	}
}

func TestTheGuardRemovesOnlyWhatStartHasMarked(t *testing.T) {
	t.Parallel()
	dir, file := keep(t)
	if err := Guard(Config{Root: t.TempDir(), Dir: dir}, strings.NewReader("")); err == nil {
		t.Error("the guard takes any folder for a cluster's")
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("a folder that is nobody's cluster has lost something: %v", err)
	}
	for _, kept := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "new")
		if err := claim(dir); err != nil {
			t.Fatal(err)
		}
		if err := Guard(Config{Root: t.TempDir(), Dir: dir, Keep: kept}, strings.NewReader("")); err != nil {
			t.Errorf("keep %t: %v", kept, err)
		}
		if _, err := os.Stat(dir); (err == nil) != kept {
			t.Errorf("keep %t: the folder is there: %t", kept, err == nil)
		}
		if kept && claim(dir) == nil {
			t.Error("a folder that was kept is taken for a new one")
		}
	}
}
