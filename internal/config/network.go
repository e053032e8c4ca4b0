package config

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"
)

// mappedBits is the length of the prefix ::ffff:0:0, under which IPv6 maps the IPv4 addresses (RFC 4291, 2.5.5.2).
const mappedBits = 96

// Network parses an address (10.0.0.7) or a network (10.0.0.0/8) into its canonical form. In this form host bits are 0,
// an address is a network of one address, and an IPv4-mapped IPv6 address is an IPv4 address. IPv6 zones are rejected,
// because a zone names an interface of one host.
func Network(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil && a.Zone() == "" {
		a = a.Unmap()
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text) // rejects zones
	if err == nil && p.Addr().Is4In6() {
		// A prefix shorter than mappedBits becomes invalid here, and is rejected below. Such a network contains all
		// mapped IPv4 addresses, but would match none, because a client's address is unmapped before the comparison.
		p = netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mappedBits)
	}
	if err != nil || !p.IsValid() {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a network such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

// Networks parses several networks; it stops at the first error.
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

// Local reports whether a host is certainly on this machine: empty, localhost, a loopback address or a socket's path.
func Local(host string) bool {
	if host == "" || host == "localhost" || strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") {
		return true
	}
	a, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil && a.Unmap().IsLoopback()
}

// CheckOrigin checks an origin of web pages. It must be as browsers send it: https, or http on this machine, in lower
// case, without path and default port.
func CheckOrigin(text string) error {
	form := regexp.MustCompile(`^(https://[a-z0-9]([a-z0-9.-]*[a-z0-9])?|http://(localhost|127\.0\.0\.1))(:[0-9]{1,5})?$`)
	if !form.MatchString(text) || regexp.MustCompile(`^https:.*:443$|^http:.*:80$`).MatchString(text) {
		return fmt.Errorf("%q must be an origin as browsers send it, such as https://app.example.com", text)
	}
	return nil
}
