package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks whose X-Forwarded-For is trusted.
type proxies []netip.Prefix

func (p proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// client returns the client's address: the socket's or, behind trusted proxies, the first untrusted
// address from the right. Entries to the left of it come from the client and are ignored. On a Unix
// socket the address is invalid.
func (p proxies) client(r *http.Request) netip.Addr {
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

// secure reports whether a request came over TLS to this server, or to a trusted proxy that reports
// it. Of several entries, the first is about the client's own connection. A forged one can only
// make a client lose its own cookie.
func (p proxies) secure(r *http.Request) bool {
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

// plain removes the IPv6 form of an IPv4 address, and the zone, which names an interface of this
// host.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseForwarded parses an entry of X-Forwarded-For: an address, optionally with a port or, for
// IPv6, brackets.
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
