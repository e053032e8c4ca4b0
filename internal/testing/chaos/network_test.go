package chaos

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// namespaceNetwork has the addresses of instances in network namespaces.
const namespaceNetwork = "10.77.0.0/16"

// networks are the network namespaces of the instances. A veth pair (a virtual cable) connects each of them
// to that of this process. The instance's traffic to 127.0.0.1 crosses the pair as packets, which can be
// dropped. This needs root, iproute2, iptables and a network namespace of its own: see .ci/isolated.
type networks struct {
	prefix string
	count  int
}

// Network is the network of one instance.
type Network struct {
	// IP is the address of the instance.
	IP string

	name, wire string
}

// makeNetworks prepares this process's network, which must be isolated, if the cluster has namespaces.
func (c *Cluster) makeNetworks(ctx context.Context) error {
	if !c.Namespaces {
		return nil
	}
	c.nets = &networks{prefix: filepath.Base(c.Dir) + "."} // .ci/chaos-cleanup removes the names with this prefix
	return tool(ctx, "iptables", "-t", "nat", "-A", "PREROUTING", "-d", namespaceNetwork, "-p", "tcp", "-j", "DNAT", "--to-destination", loopback)
}

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

// enter returns the first words of a command line that runs in the network.
func (n *Network) enter() []string { return []string{"ip", "netns", "exec", n.name} }

// Direction is a direction of packets.
type Direction string

// The directions between an instance and the other side.
const (
	Outbound Direction = "there" // packets that the instance sends are dropped
	Inbound  Direction = "back"  // packets to the instance are dropped
	Both     Direction = "both"  // packets in both directions are dropped
)

// Drop silently drops packets between an instance and ports on the other side.
func (n *Network) Drop(ctx context.Context, way Direction, ports ...string) error {
	return n.rules(ctx, "-A", way, ports)
}

// Restore ends a Drop with the same arguments.
func (n *Network) Restore(ctx context.Context, way Direction, ports ...string) error {
	return n.rules(ctx, "-D", way, ports)
}

func (n *Network) rules(ctx context.Context, action string, way Direction, ports []string) error {
	var faults []error
	for _, port := range ports {
		if way != Inbound {
			faults = append(faults, tool(ctx, "iptables", action, "INPUT", "-i", n.wire, "-p", "tcp", "--dport", port, "-j", "DROP"))
		}
		if way != Outbound {
			faults = append(faults, tool(ctx, "iptables", action, "OUTPUT", "-o", n.wire, "-p", "tcp", "--sport", port, "-j", "DROP"))
		}
	}
	return errors.Join(faults...)
}

// tool runs a program of the system.
func tool(ctx context.Context, argv ...string) error {
	out, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
