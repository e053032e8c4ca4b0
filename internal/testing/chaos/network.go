package chaos

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// wiresNetwork has the addresses of instances in networks of their own.
const wiresNetwork = "10.77.0.0/16"

// networks are those of the instances: each has a network namespace, and a wire to this
// process's. What they send to 127.0.0.1 goes through the wire to what listens there on
// this side, as packets, so that packets can be dropped on the way. It needs root,
// iproute2 and iptables, and a network namespace that this process need not share: see
// [Unshared].
type networks struct {
	prefix string
	count  int
}

// Network is one of them.
type Network struct {
	// IP is the address of the instance.
	IP string

	name, wire string
}

// Unshared is a command line that runs a program in a network of its own, in which
// nothing else is and which goes with its last process.
func Unshared(argv ...string) []string { return append([]string{"unshare", "--net", "--"}, argv...) }

// newNetworks prepares this process's network, which must be its own.
func newNetworks(ctx context.Context, dir string) (*networks, error) {
	return &networks{prefix: netPrefix(dir)}, tool(ctx, "iptables", "-t", "nat", "-A", "PREROUTING", "-d", wiresNetwork, "-p", "tcp", "-j", "DNAT", "--to-destination", loopback)
}

// netPrefix begins the names of a cluster's networks.
func netPrefix(dir string) string { return filepath.Base(dir) + "." }

// Loopback brings up 127.0.0.1 in a network that was just made.
func Loopback(ctx context.Context) error { return tool(ctx, "ip", "link", "set", "lo", "up") }

// add makes a network for an instance.
func (n *networks) add(ctx context.Context, name string) (*Network, error) {
	n.count++
	side := func(end int) string { return fmt.Sprintf("10.77.%d.%d", n.count, end) }
	net := &Network{IP: side(2), name: n.prefix + name, wire: "wire" + strconv.Itoa(n.count)}
	within := func(argv ...string) []string { return append(net.enter(), argv...) }
	for _, command := range [][]string{
		{"ip", "netns", "add", net.name},
		{"ip", "link", "add", net.wire, "type", "veth", "peer", "name", "eth0", "netns", net.name},
		{"ip", "addr", "add", side(1) + "/24", "dev", net.wire},
		{"ip", "link", "set", net.wire, "up"},
		{"sysctl", "-q", "-w", "net.ipv4.conf." + net.wire + ".route_localnet=1"},
		{"ip", "-n", net.name, "addr", "add", net.IP + "/24", "dev", "eth0"},
		{"ip", "-n", net.name, "link", "set", "eth0", "up"},
		{"ip", "-n", net.name, "link", "set", "lo", "up"},
		within("sysctl", "-q", "-w", "net.ipv4.conf.all.route_localnet=1"),
		within("iptables", "-t", "nat", "-A", "OUTPUT", "-p", "tcp", "-d", "127.0.0.0/8", "-j", "DNAT", "--to-destination", side(1)),
		within("iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "eth0", "-p", "tcp", "-j", "SNAT", "--to-source", net.IP),
	} {
		if err := tool(ctx, command...); err != nil {
			return nil, err
		}
	}
	return net, nil
}

// enter begins a command line that runs in the network.
func (n *Network) enter() []string { return []string{"ip", "netns", "exec", n.name} }

// Way is a direction of packets.
type Way string

// The ways between an instance and what listens on the other side.
const (
	There Way = "there" // what the instance sends does not arrive
	Back  Way = "back"  // what it is sent does not
	Both  Way = "both"  // nor the one nor the other
)

// Drop drops what goes between an instance and ports on the other side, without a word
// to either.
func (n *Network) Drop(ctx context.Context, way Way, ports ...string) error {
	return n.rules(ctx, "-A", way, ports)
}

// Mend ends a Drop of the same.
func (n *Network) Mend(ctx context.Context, way Way, ports ...string) error {
	return n.rules(ctx, "-D", way, ports)
}

func (n *Network) rules(ctx context.Context, action string, way Way, ports []string) error {
	var faults []error
	for _, port := range ports {
		if way != Back {
			faults = append(faults, tool(ctx, "iptables", action, "INPUT", "-i", n.wire, "-p", "tcp", "--dport", port, "-j", "DROP"))
		}
		if way != There {
			faults = append(faults, tool(ctx, "iptables", action, "OUTPUT", "-o", n.wire, "-p", "tcp", "--sport", port, "-j", "DROP"))
		}
	}
	return errors.Join(faults...)
}

// tool runs a program of the system.
func tool(ctx context.Context, argv ...string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput() //nolint:gosec // ours
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// netnsDir is where iproute2 keeps networks that have names.
const netnsDir = "/run/netns"

// removeNetworks removes those of the cluster in a folder.
func removeNetworks(ctx context.Context, dir string) error {
	entries, err := os.ReadDir(netnsDir)
	if err != nil {
		return nil //nolint:nilerr // there is none
	}
	var faults []error
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), netPrefix(dir)) {
			faults = append(faults, tool(ctx, "ip", "netns", "delete", e.Name()))
		}
	}
	return errors.Join(faults...)
}
