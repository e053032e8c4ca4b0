package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"vayu/internal/testing/chaos"
	"vayu/internal/testing/chaos/fault"
)

// unsharedVariable says that this process has a network of its own.
const unsharedVariable = "VAYU_CLUSTER_UNSHARED"

// needed are programs of the system, and Debian's packages that have them.
var needed = map[string]string{"ip": "iproute2", "iptables": "iptables", "unshare": "util-linux", "sysctl": "procps"}

// partitions drops packets between processes of a cluster under load. The whole of it is
// in a network of its own, so that nothing of this machine is changed.
func partitions(ctx context.Context, r request) error {
	chosen, err := fault.Chosen(fault.Partitions(), r.only)
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("partitions need network namespaces, which only root can make: run it as root, or `make faults`, which cuts the connections to PostgreSQL without")
	}
	if os.Getenv(unsharedVariable) == "" {
		_ = os.Remove(r.Dir) // the next one makes it
		return unshared(ctx, r.Root)
	}
	if err := chaos.Loopback(ctx); err != nil {
		return err
	}
	r.Wires = true
	return r.broken(ctx, chosen)
}

// unshared starts this program again in a network of its own, in its place. What has to
// be fetched is fetched before: that network leads nowhere.
func unshared(ctx context.Context, root string) error {
	for name, of := range needed {
		if _, err := exec.LookPath(name); err == nil {
			continue
		}
		install := exec.CommandContext(ctx, "sh", "-c", "apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "+of) //nolint:gosec // from the table
		if out, err := install.CombinedOutput(); err != nil {
			return fmt.Errorf("%s is missing, and installing %s failed: %w\n%s", name, of, err, out)
		}
	}
	if err := chaos.Install(ctx, root); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	argv := chaos.Unshared(append([]string{self}, os.Args[1:]...)...)
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return fmt.Errorf("finding %s: %w", argv[0], err)
	}
	return fmt.Errorf("starting again: %w", syscall.Exec(program, argv, append(os.Environ(), unsharedVariable+"=1"))) //nolint:gosec // ourselves
}
