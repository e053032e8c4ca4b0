package cluster

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
	"time"
)

// guard is a process that outlives this one if it must, and then ends the stores, which
// are nobody's children, and removes networks, mounts and the folder.
type guard struct {
	cmd *exec.Cmd
	in  io.Closer
}

// group keeps Ctrl-C away from a child.
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

// end has the guard do its work, and waits for that.
func (g *guard) end() error {
	_ = g.in.Close()
	if err := g.cmd.Wait(); err != nil {
		return fmt.Errorf("ending the stores: %w", err)
	}
	return nil
}

// guardPatience bounds the end of one store.
const guardPatience = 90 * time.Second

// Guard waits until in ends, which it does with the process that holds its other end,
// and ends what a cluster in Dir may have left.
func Guard(c Config, in io.Reader) error {
	_, _ = io.Copy(io.Discard, in)
	ctx, cancel := context.WithTimeout(context.Background(), guardPatience)
	defer cancel()
	var faults []error
	for _, folder := range mounts(c.Dir) {
		faults = append(faults, tool(ctx, "umount", "-l", folder))
	}
	for _, store := range []struct{ script, folder string }{{"kafka", "kafka"}, {"postgres", "pg"}} {
		at := filepath.Join(c.Dir, store.folder)
		if _, err := os.Stat(at); err != nil {
			continue // it was never started
		}
		if _, err := runScript(ctx, c.Root, store.script, "stop", at); err != nil {
			faults = append(faults, fmt.Errorf("ending %s: %w", store.script, err))
		}
	}
	faults = append(faults, removeNetworks(ctx, c.Dir))
	if !c.Keep {
		faults = append(faults, os.RemoveAll(c.Dir))
	}
	return errors.Join(faults...)
}

// mounts are the folders below dir on which something is mounted.
func mounts(dir string) (found []string) {
	text, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		return nil // no such system, and no mounts of ours
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) > 1 && strings.HasPrefix(fields[1], dir+string(filepath.Separator)) {
			found = append(found, fields[1])
		}
	}
	return found
}
