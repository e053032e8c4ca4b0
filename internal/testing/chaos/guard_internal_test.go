package chaos

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// keep creates a folder with a foreign file.
func keep(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, []byte("ten years of work"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir, file
}

func TestStartRejectsNonEmptyFolder(t *testing.T) {
	t.Parallel()
	dir, file := keep(t)
	if _, err := Start(t.Context(), Config{Root: t.TempDir(), Dir: dir, CA: []byte("an authority"), Out: io.Discard}); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v, want that the folder is not empty", err)
	}
	if got := names(t, dir); got != filepath.Base(file) {
		t.Errorf("the folder has %s", got)
	}
}

// names are the names of the entries of a folder.
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

// The authorities of receivers are in the cluster's folder, and are removed with it.
func TestReceiverAuthoritiesAreInFolder(t *testing.T) {
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

func TestGuardRemovesMarkedFoldersOnly(t *testing.T) {
	t.Parallel()
	dir, file := keep(t)
	if err := Guard(Config{Root: t.TempDir(), Dir: dir}, strings.NewReader("")); err == nil {
		t.Error("the guard accepts an unmarked folder")
	}
	if _, err := os.Stat(file); err != nil {
		t.Errorf("an unmarked folder was changed: %v", err)
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
			t.Error("a kept folder is accepted as a new one")
		}
	}
}

// Stopping a store removes its folder; its logs remain if the other data does.
func TestStoreLogsAreKept(t *testing.T) {
	t.Parallel()
	root, parent := t.TempDir(), t.TempDir()
	script(t, root, "postgres", `rm -rf "$2"`)
	script(t, root, "kafka", `rm -rf "$2"`)
	for _, kept := range []bool{true, false} {
		c := Config{Root: root, Dir: filepath.Join(parent, "new"), Keep: kept}
		if err := claim(c.Dir); err != nil {
			t.Fatal(err)
		}
		cluster, kafka := filepath.Join(c.postgresDir(), "cluster"), c.kafkaDir()
		for _, file := range []string{cluster + "/PG_VERSION", cluster + "/server.log", kafka + "/brokers", kafka + "/1/server.log", kafka + "/3/server.log"} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(file), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		if err := Guard(c, strings.NewReader("")); err != nil {
			t.Errorf("keep %t: %v", kept, err)
		}
		if !kept {
			if got := names(t, parent); got != "" {
				t.Errorf("a removed cluster left %s", got)
			}
			continue
		}
		if got, want := names(t, c.Dir), "broker-1.log broker-3.log pg-disk postgres.log "+marker; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if text, err := os.ReadFile(filepath.Join(c.Dir, "broker-3.log")); string(text) != kafka+"/3/server.log" {
			t.Errorf("the log of the third broker is %q (%v)", text, err)
		}
		if err := os.RemoveAll(c.Dir); err != nil {
			t.Fatal(err)
		}
	}
}

// A store whose start was interrupted is not stopped: its script would fail.
func TestUnstartedStoreIsNotStopped(t *testing.T) {
	t.Parallel()
	c := Config{Root: t.TempDir(), Dir: filepath.Join(t.TempDir(), "new")}
	script(t, c.Root, "postgres", "exit 1")
	script(t, c.Root, "kafka", "exit 1")
	if err := errors.Join(claim(c.Dir), os.MkdirAll(c.postgresDir(), 0o700), os.MkdirAll(filepath.Join(c.kafkaDir(), "1"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := Guard(c, strings.NewReader("")); err != nil {
		t.Error(err)
	}
}

// script replaces a script of .ci.
func script(t *testing.T, root, name, text string) {
	t.Helper()
	dir := filepath.Join(root, ".ci")
	// A process that another test forks meanwhile would inherit the open file, and a file that is open for
	// writing cannot be run.
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700)); err != nil {
		t.Fatal(err)
	}
}
