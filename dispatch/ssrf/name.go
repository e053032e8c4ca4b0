package ssrf

import (
	"slices"
	"strings"
)

// The method deniedName denies the names in these lists and their subdomains. Public DNS does not have them, or
// resolves them to addresses that [Guard.Control] denies. Because of the lists, a client gets the error when it
// creates a subscription. Otherwise it would see it only after eight failed attempts of a delivery.
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

// deniedName returns why a name is denied; "" for an allowed name. Names for private networks are allowed if the
// operator allows at least one network. Names of the machine are allowed if a loopback network is allowed.
func (g *Guard) deniedName(name string) string {
	switch {
	case under(name, cloudNames):
		return "This name is internal to a cloud. Use the public host name of the receiver."
	case under(name, machineNames) && !g.loopback:
		return "This name refers to the local machine. Use the public host name of the receiver."
	case !under(name, machineNames) && !g.local && (under(name, insideNames) || !strings.Contains(name, ".")):
		return "This name is valid only inside a network. Use the full public host name of the receiver."
	}
	return ""
}

func under(name string, list []string) bool {
	return slices.ContainsFunc(list, func(parent string) bool {
		return name == parent || strings.HasSuffix(name, "."+parent)
	})
}
