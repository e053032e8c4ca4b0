package ssrf

import "net/netip"

var loopback4 = netip.MustParsePrefix("127.0.0.0/8")

// missed4 are internal IPv4 addresses outside of IANA's special-purpose registry. Package code.dny.dev/ssrf follows
// that registry, so it does not deny these addresses.
var missed4 = []netip.Prefix{
	// Services for machines in Azure: DNS, DHCP, health and, at ports 80 and 32526, metadata
	// (learn.microsoft.com, "What is IP address 168.63.129.16?").
	netip.MustParsePrefix("168.63.129.16/32"),
}

// permits reports whether a connection to an address is allowed. In an allowed network, every port is allowed. In such
// a network, an IPv4-mapped IPv6 address counts as its IPv4 address, because sockets may report IPv4 addresses in this
// form. Outside of these networks, the address must be public unicast, and the port allowed. IPv6 addresses that embed
// an IPv4 address (mapped, compatible, NAT64, 6to4, Teredo, ISATAP) are then denied, because public receivers do not
// need them.
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

// isatap reports whether an address embeds an IPv4 address as in RFC 5214 (ISATAP). Such an address can have any
// prefix.
func isatap(addr netip.Addr) bool {
	b := addr.As16()
	return addr.Is6() && b[8]&^2 == 0 && b[9] == 0 && b[10] == 0x5e && b[11] == 0xfe
}

// unmapped converts a prefix of IPv4-mapped IPv6 addresses to an IPv4 prefix, and keeps any other prefix. It sets the
// host bits to 0.
func unmapped(p netip.Prefix) netip.Prefix {
	if p.Addr().Is4In6() && p.Bits() >= 96 {
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-96)
	}
	return p.Masked()
}
