package ssrf

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Names that deniedName denies with their subdomains. Public DNS does not have these names, or
// resolves them to addresses that Control denies. With the lists, the client gets the error when
// it creates a subscription, not after eight attempts.
var (
	// machineNames are names of the machine itself (RFC 6761 6.3, /etc/hosts of Debian).
	machineNames = []string{"localhost", "localdomain", "ip6-localhost", "ip6-loopback", "broadcasthost"}
	// insideNames are names for private networks, from RFC 6762 and its appendix G, RFC 8375,
	// ICANN (.internal) and Kubernetes (.svc).
	insideNames = []string{"local", "internal", "home.arpa", "intranet", "private", "corp", "home", "lan", "svc"}
	// cloudNames are names of metadata services, which return credentials.
	cloudNames = []string{
		"metadata", "metadata.google.internal", "metadata.azure.internal", "metadata.tencentyun.com",
		"metadata.packet.net", "metadata.platformequinix.com", "rancher-metadata",
		"instance-data", "instance-data.ec2.internal",
	}
)

// deniedName returns why a name is denied; "" for an allowed name. Any allowed network allows names
// for private networks. An allowed loopback network also allows names of the machine.
func (g *Guard) deniedName(name string) string {
	switch {
	case under(name, cloudNames):
		return "This name belongs to the inside of a cloud. Use the public host name of the receiver."
	case under(name, machineNames) && !g.loopback:
		return "This name means the machine itself. Use the public host name of the receiver."
	case !under(name, machineNames) && !g.local && (under(name, insideNames) || !strings.Contains(name, ".")):
		return "This name has a meaning only inside a network. Use the full public host name of the receiver."
	}
	return ""
}

func under(name string, list []string) bool {
	return slices.ContainsFunc(list, func(parent string) bool {
		return name == parent || strings.HasSuffix(name, "."+parent)
	})
}

// readHost parses a host, and returns either its lower-case name or its IPv4 address. It rejects
// numbers that C resolvers accept as addresses (127.1, 0x7f.1, 2130706433, 0177.0.0.1).
func readHost(host string) (string, netip.Addr, error) {
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch {
	case last == "":
		return "", netip.Addr{}, malformed("The host must not end with a dot.")
	case numeric.MatchString(last):
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", netip.Addr{}, malformed("The host looks like an IPv4 address. Write that as four decimal numbers without leading zeros.")
		}
		return "", addr, nil
	case len(host) > 253:
		return "", netip.Addr{}, malformed("The host name must be no longer than 253 characters.")
	}
	if !hostName.MatchString(host) {
		return "", netip.Addr{}, malformed("The host must be a name: parts of 1 to 63 letters, digits and hyphens, none with a hyphen at an end, and dots between them.")
	}
	return host, netip.Addr{}, nil
}

var (
	// hostName is the LDH rule of RFC 1123 2.1, in lower case.
	hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	// numeric matches the last label of a host that parsers may read as an IPv4 address. The
	// WHATWG URL standard calls this "ends in a number".
	numeric = regexp.MustCompile(`^([0-9]+|0x[0-9a-f]*)$`)
)
