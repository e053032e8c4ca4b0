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

// unsharedVariable marks a process that already runs in a separate network namespace.
const unsharedVariable = "VAYU_CLUSTER_UNSHARED"

// needed are programs of the system, and the Debian packages that contain them.
var needed = map[string]string{"ip": "iproute2", "iptables": "iptables", "unshare": "util-linux", "sysctl": "procps"}

// partitions drops packets between processes of a cluster under load. It runs in a separate
// network namespace, so that the network of this machine is not changed.
func partitions(ctx context.Context, r request) error {
	chosen, err := fault.Select(fault.Partitions(), r.only)
	if err != nil {
		return err
	}
	if os.Geteuid() != 0 {
		return errors.New("partitions need network namespaces, which only root can make: run it as root, or `make faults`, which cuts the connections to PostgreSQL without")
	}
	if os.Getenv(unsharedVariable) == "" {
		_ = os.Remove(r.Dir) // the next cluster creates it
		return unshared(ctx, r.Root)
	}
	if err := chaos.Loopback(ctx); err != nil {
		return err
	}
	r.Namespaces = true
	return r.inject(ctx, chosen)
}

// unshared replaces this process by the same program in a separate network namespace. It first
// downloads dependencies, because the namespace has no route to the internet.
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
	return fmt.Errorf("starting again: %w", syscall.Exec(program, argv, append(os.Environ(), unsharedVariable+"=1"))) //nolint:gosec // this program
}
