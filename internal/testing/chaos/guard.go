package chaos

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// guard is a process that survives a crash of this one. It stops the stores, which are daemons, and
// removes networks, mounts and the folder.
type guard struct {
	cmd *exec.Cmd
	in  io.Closer
}

// group shields a child from Ctrl-C.
func group() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startGuard starts this program again with the command "guard".
func startGuard(c Config) (*guard, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("finding this program: %w", err)
	}
	args := []string{"guard", "--root", c.Root, "--data", c.Dir, fmt.Sprintf("--keep=%t", c.Keep)}
	cmd := exec.Command(self, args...) //nolint:gosec,noctx // ends by its stdin
	cmd.Stderr, cmd.SysProcAttr = os.Stderr, group()
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return nil, fmt.Errorf("starting the guard: %w", err)
	}
	return &guard{cmd: cmd, in: in}, nil
}

// end triggers the cleanup of the guard, and waits for it.
func (g *guard) end() error {
	_ = g.in.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("ending the stores: %w", err)
	}
	return nil
}

// guardTimeout bounds the stop of each store, and of the rest.
const guardTimeout = 60 * time.Second

// marker is a file that marks a folder of a cluster, which may be removed with its content.
const marker = "this-folder-is-removed-by-vayu-cluster"

// claim creates and marks the folder of a cluster. It rejects a folder that is not empty.
func claim(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the user postgres must reach what is inside
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

// Guard waits until in ends. in is a pipe, so it ends at the latest when the process with its other end does.
// Then Guard removes what a cluster in Dir may have left. It does not touch a folder that Start has not
// marked.
func Guard(c Config, in io.Reader) error {
	_, _ = io.Copy(io.Discard, in)
	if _, err := os.Stat(filepath.Join(c.Dir, marker)); err != nil {
		return fmt.Errorf("%s is not the folder of a cluster: %w", c.Dir, err)
	}
	ctx := context.Background()
	var faults []error
	if c.Keep {
		faults = append(faults, c.keepLogs())
	}
	faults = append(faults,
		endStore(ctx, c.Root, "postgres", c.postgresDir(), "cluster/PG_VERSION"), // its data is on a small disk
		unmount(ctx, c.Dir),
		endStore(ctx, c.Root, "kafka", c.kafkaDir(), "brokers"), // removes its folder, in which one broker has such a disk
		removeNetworks(ctx, c.Dir),
	)
	if !c.Keep {
		faults = append(faults, os.RemoveAll(c.Dir))
	}
	return errors.Join(faults...)
}

// keepLogs copies the logs of PostgreSQL and Kafka to the folder of the other logs, because
// stopping a store removes its folder. A store that was not started has none.
func (c Config) keepLogs() error {
	logs := map[string]string{"postgres.log": filepath.Join(c.postgresDir(), "cluster", "server.log")}
	for n := range brokers {
		logs[fmt.Sprintf("broker-%d.log", n+1)] = filepath.Join(c.kafkaDir(), strconv.Itoa(n+1), "server.log")
	}
	var faults []error
	for name, from := range logs {
		if err := copied(from, filepath.Join(c.Dir, name)); err != nil && !errors.Is(err, os.ErrNotExist) {
			faults = append(faults, fmt.Errorf("keeping %s: %w", name, err))
		}
	}
	return errors.Join(faults...)
}

// copied copies a file, which may be large, to a new one.
func copied(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // read-only
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// endStore stops a store with the script that started it. If the first file of a store is missing,
// its start was interrupted before it ran, and the script would fail.
func endStore(ctx context.Context, root, script, at, first string) error {
	if _, err := os.Stat(filepath.Join(at, first)); err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	if _, err := runScript(ctx, root, script, "stop", at); err != nil {
		return fmt.Errorf("ending %s: %w", script, err)
	}
	return nil
}

// unmount unmounts the small disks.
func unmount(ctx context.Context, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, guardTimeout)
	defer cancel()
	var faults []error
	for _, folder := range mounts(dir) {
		faults = append(faults, tool(ctx, "umount", "-l", folder))
	}
	return errors.Join(faults...)
}

// mounts are the mount points below dir.
func mounts(dir string) (found []string) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil // the system has no mounts of ours
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+string(filepath.Separator)) {
			found = append(found, fields[1])
		}
	}
	return found
}
