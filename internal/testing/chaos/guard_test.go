package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// guard is a process that survives a crash of this one. It stops the stores, which are daemons, and
// removes networks, mounts and the folder.
type guard struct {
	cmd *exec.Cmd
	in  io.Closer
}

// group shields a child from Ctrl-C.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startGuard starts the script that cleans up when its standard input ends: at the latest when this
// process does.
func (c *Cluster) startGuard(context.Context) error {
	cmd := c.cleanup()
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, group()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return fmt.Errorf("starting the guard: %w", errors.Join(err, os.RemoveAll(c.Dir)))
	}
	c.guard = &guard{cmd: cmd, in: in}
	return nil
}

// cleanup is the command that removes what a cluster in Dir may have left.
func (c Config) cleanup() *exec.Cmd {
	args := []string{c.Dir}
	if c.Keep {
		args = append(args, "keep")
	}
	return exec.Command(filepath.Join(c.Root, ".ci", "chaos-cleanup"), args...)
}

// end triggers the cleanup of the guard, and waits for it.
func (g *guard) end() error {
	_ = g.in.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("ending the stores: %w", err)
	}
	return nil
}

// marker is a file that marks a folder of a cluster. .ci/chaos-cleanup removes only folders with it.
const marker = "this-folder-is-removed-by-vayu-cluster"

// claim creates and marks the folder of a cluster. It rejects a folder that is not empty.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the cluster: %w", err)
	}
	inside, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking into the folder of the cluster: %w", err)
	}
	if len(inside) > 0 {
		return fmt.Errorf("the folder %s is not empty (%s): a cluster removes its folder when it ends, and so takes none that has something in it", dir, inside[0].Name())
	}
	if err := os.WriteFile(filepath.Join(dir, marker), nil, 0o600); err != nil {
		return fmt.Errorf("marking the folder of the cluster: %w", err)
	}
	return nil
}

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
	c := newCluster(t, Config{Root: t.TempDir(), Dir: dir, CA: []byte("an authority")})
	if err := c.start(t.Context()); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("got %v, want that the folder is not empty", err)
	}
	if got := entries(t, dir); got != filepath.Base(file) {
		t.Errorf("the folder has %s", got)
	}
}

// entries are the names of the entries of a folder.
func entries(t *testing.T, dir string) string {
	t.Helper()
	found, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range found {
		all = append(all, e.Name())
	}
	return strings.Join(all, " ")
}

// The authorities of receivers are in the cluster's folder, and are removed with it.
func TestReceiverAuthoritiesAreInFolder(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	c := Config{Dir: filepath.Join(parent, "new"), CA: []byte("an authority")}
	if err := errors.Join(claim(c.Dir), c.writeCA(t.Context())); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(c.Dir, "receivers.pem")
	if text, err := os.ReadFile(file); string(text) != "an authority" {
		t.Errorf("the file has %q (%v)", text, err)
	}
	if got := entries(t, parent); got != "new" {
		t.Errorf("beside the folder there is %s", got)
	}
}

func TestGuardRemovesMarkedFoldersOnly(t *testing.T) {
	t.Parallel()
	dir, file := keep(t)
	if err := clean(t, Config{Dir: dir}); err == nil {
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
		if err := clean(t, Config{Dir: dir, Keep: kept}); err != nil {
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
		if err := clean(t, c); err != nil {
			t.Errorf("keep %t: %v", kept, err)
		}
		if !kept {
			if got := entries(t, parent); got != "" {
				t.Errorf("a removed cluster left %s", got)
			}
			continue
		}
		if got, want := entries(t, c.Dir), "broker-1.log broker-3.log pg-disk postgres.log "+marker; got != want {
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
	if err := clean(t, c); err != nil {
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

// clean runs the cleanup of a cluster, with the scripts of its Root beside it.
func clean(t *testing.T, c Config) error {
	t.Helper()
	own, err := filepath.Abs("../../../.ci/chaos-cleanup")
	if err != nil {
		t.Fatal(err)
	}
	if c.Root == "" {
		c.Root = t.TempDir()
	}
	link := filepath.Join(c.Root, ".ci", "chaos-cleanup")
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(own, link); err != nil && !errors.Is(err, os.ErrExist) {
		t.Fatal(err)
	}
	return c.cleanup().Run() // its standard input is empty
}
