package httpapi

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks whose X-Forwarded-For is believed.
type proxies []netip.Prefix

func (p proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// client is who asks: the socket's address or, as far as trusted proxies tell,
// the one that they took the request from. Everything left of the first address
// that is not trusted is what that client says of itself, and is never looked
// at. It is the invalid address on a Unix socket.
func (p proxies) client(r *http.Request) netip.Addr {
	socket, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	at := plain(socket.Addr())
	if len(p) == 0 {
		return at
	}
	lines := r.Header["X-Forwarded-For"] // several lines are one list
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

// secure reports whether a request came over TLS: to this server, or to a proxy that
// is trusted and says so. What several proxies say stands in one list, and the first
// entry is about the client's own connection; it can be wrong only towards a
// connection that drops its own cookie.
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

// plain drops what is no part of an identity: the IPv6 form of an IPv4 address,
// and the zone, which is a name of this host's interface.
func plain(a netip.Addr) netip.Addr { return a.Unmap().WithZone("") }

// parseForwarded reads one entry of X-Forwarded-For: an address, perhaps with a
// port, an IPv6 address perhaps in brackets.
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
