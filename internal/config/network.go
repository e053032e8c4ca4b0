package config

import (
	"fmt"
	"net/netip"
	"strings"
)

// mappedBits is how long the prefix ::ffff:0:0 is under which IPv6 holds the
// IPv4 addresses (RFC 4291, 2.5.5.2).
const mappedBits = 96

// Network reads an address (10.0.0.7) or a network (10.0.0.0/8) in the one form
// in which networks are stored and compared: masked, an address as the network
// of itself, and IPv4 as IPv4, also when it was written as IPv6. Zones are names
// of one host's interfaces, and refused.
func Network(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text) // refuses zones
	if err == nil && p.Addr().Is4In6() {
		// A shorter prefix would hold IPv6 too: that is no network of IPv4, and
		// as one of IPv6 it would leave out the address that it names.
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	if err != nil || !p.IsValid() {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

// Networks reads what Network reads, several times; the first error ends it.
func Networks(texts []string) ([]netip.Prefix, error) {
	out := make([]netip.Prefix, 0, len(texts))
	for _, text := range texts {
		p, err := Network(text)
		if err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// Local reports whether a host, which is a name, an address or the folder of a
// socket, is of this machine. No host at all is.
func Local(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}
