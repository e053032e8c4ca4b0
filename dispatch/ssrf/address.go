package ssrf

import "net/netip"

var loopback4 = netip.MustParsePrefix("127.0.0.0/8")

// missed4 are addresses that look public and lead inside, which the list of
// code.dny.dev/ssrf (IANA's registry of special purposes) does not have.
var missed4 = []netip.Prefix{
	// The host under every machine of Azure: DNS, DHCP, health and, at ports 80 and
	// 32526, its metadata (learn.microsoft.com, "What is IP address 168.63.129.16?").
	netip.MustParsePrefix("168.63.129.16/32"),
}

// permits judges an address. What is not plain public unicast is refused; that
// covers IPv6 forms which carry an IPv4 address (mapped, compatible, NAT64, 6to4,
// Teredo), since nobody needs them to reach a public receiver. Only the mapped
// form of a network that the operator allows is let through: sockets show IPv4 so.
func (g *Guard) permits(ap netip.AddrPort) bool {
	addr := ap.Addr()
	if !addr.IsValid() || addr.Zone() != "" || ap.Port() == 0 {
		return false
	}
	for _, p := range g.allow {
		if p.Contains(addr.Unmap()) {
			return true
		}
	}
	return !isatap(addr) && g.public.SafeAddrPort(ap) == nil
}

// isatap says whether an address carries an IPv4 address as RFC 5214 has it. A
// host with such an interface would take it out of any prefix.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return addr.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// unmapped is a prefix as addresses are compared with it: IPv4 as IPv4.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
