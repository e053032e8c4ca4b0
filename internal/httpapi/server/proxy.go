package server

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks whose X-Forwarded-For is trusted.
type Proxies []netip.Prefix

func (p Proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// Client returns the client's address. Starting at the socket, it follows X-Forwarded-For from right to left
// while the address is a trusted proxy, and stops before an invalid entry. Entries to the left of the result
// may be forged and are ignored. On a Unix socket, the address is invalid.
func (p Proxies) Client(r *http.Request) netip.Addr {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := plain(socket.Addr())
	if len(p) == 0 {
		return at
	}
	lines := r.Header["X-Forwarded-For"] // several header lines form one list
	for _, rest := range slices.Backward(lines) {
		for {
			comma := strings.LastIndexByte(rest, ',')
			if !p.trust(at) {
				return at
			}
			next, ok := parseForwarded(rest[comma+1:])
			if !ok {
				return at
			}
			at = next
			if comma < 0 {
				break
			}
			rest = rest[:comma]
		}
	}
	return at
}

// Secure reports whether the client used TLS, either to this server or to a trusted proxy that reports TLS. The
// first entry of X-Forwarded-Proto is about the client's own connection. A client that forges this entry can
// only harm its own session.
func (p Proxies) Secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil || !p.trust(plain(socket.Addr())) {
		return false
	}
	first, _, _ := strings.Cut(r.Header.Get("X-Forwarded-Proto"), ",")
	return strings.EqualFold(strings.TrimSpace(first), "https")
}

// plain returns an IPv4-mapped IPv6 address as IPv4. It removes the zone, which names a network interface of this host.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseForwarded parses an entry of X-Forwarded-For: an address, optionally with a port or, for
// IPv6, brackets. It returns false for any other text.
func parseForwarded(entry string) (netip.Addr, bool) {
	entry = strings.Trim(entry, " \t")
	if a, err := netip.ParseAddr(entry); err == nil {
		return plain(a), true
	}
	if at, err := netip.ParseAddrPort(entry); err == nil {
		return plain(at.Addr()), true
	}
	if inner, ok := strings.CutPrefix(entry, "["); ok {
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			if a, err := netip.ParseAddr(inner); err == nil && a.Is6() {
				return plain(a), true
			}
		}
	}
	return netip.Addr{}, false
}
