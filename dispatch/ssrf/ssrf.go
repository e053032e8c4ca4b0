// Package ssrf restricts webhooks to public addresses, to prevent server-side request forgery.
//
// There are two checks. Check validates the URL of a subscription without DNS, so that a client gets an error early.
// Control checks the address of each connection in the dialer. Only Control is decisive, because a name can resolve to
// another address later.
package ssrf

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"

	"vayu/schema"
)

// httpsPort is the default port, which is always allowed.
const httpsPort = 443

// Guard decides which addresses, names and ports are allowed. It is safe for concurrent use.
type Guard struct {
	allow  []netip.Prefix // in the form that the function unmapped returns
	ports  []uint16       // ascending
	public *ssrf.Guardian
	// `local` means that the operator allows a network. Then the guard also accepts host names that are valid only
	// inside a network, and every port in a URL with a host name. `loopback` means that an allowed network overlaps the
	// loopback addresses. Then the guard also accepts the names of this machine.
	local, loopback bool
}

// New returns a guard that allows public addresses at port 443 and at the given ports. It also allows the given
// networks at any port. It ignores invalid ports and prefixes.
func New(allow []netip.Prefix, ports []int) *Guard {
	g := &Guard{ports: []uint16{httpsPort}}
	for _, port := range ports {
		if port > 0 && port <= 65535 {
			g.ports = append(g.ports, uint16(port))
		}
	}
	slices.Sort(g.ports)
	g.ports = slices.Compact(g.ports)
	for _, p := range allow {
		if !p.IsValid() {
			continue
		}
		p = unmapped(p)
		g.allow = append(g.allow, p)
		g.local = true
		g.loopback = g.loopback || p.Overlaps(loopback4) || p.Contains(netip.IPv6Loopback())
	}
	g.public = ssrf.New(ssrf.WithPorts(g.ports...), ssrf.WithDeniedV4Prefixes(missed4...))
	return g
}

// Check validates the URL of a subscription without DNS. It returns the URL with a lower-case host and without port
// 443. The error is a *schema.Problem about the field "url": invalid_webhook_url for a malformed URL, url_not_allowed
// for a denied destination.
func (g *Guard) Check(text string) (*url.URL, error) {
	t, err := read(text)
	if err != nil {
		return nil, err
	}
	normal := t.String()
	u, err := url.Parse(normal)
	if err != nil || u.String() != normal || u.Scheme != "https" || u.User != nil || u.Hostname() != t.hostname() {
		return nil, malformed("URL parsers interpret this URL differently. Use only the characters of RFC 3986, and percent-encode the rest.")
	}
	if err := g.checkDestination(t); err != nil {
		return nil, err
	}
	return u, nil
}

func (g *Guard) checkDestination(t target) error {
	if t.addr.IsValid() {
		switch {
		case g.permits(netip.AddrPortFrom(t.addr, t.port)):
			return nil
		case g.permits(netip.AddrPortFrom(t.addr, httpsPort)):
			return g.wrongPort()
		default:
			return forbidden("This address is reserved or not on the public internet. Use a host name with a public address.")
		}
	}
	if why := g.deniedName(t.name); why != "" {
		return forbidden(why)
	}
	if !g.local && !slices.Contains(g.ports, t.port) {
		return g.wrongPort()
	}
	return nil
}

func (g *Guard) wrongPort() error {
	list := make([]string, 0, len(g.ports))
	for _, port := range g.ports {
		list = append(list, strconv.Itoa(int(port)))
	}
	return forbidden("This port is not allowed. Allowed ports: " + strings.Join(list, ", ") + ".")
}

// Control has the signature of net.Dialer.Control. The dialer calls it before each connection, with the resolved
// address. The error for a denied address is an *AddressError.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !g.permits(ap) {
		return &AddressError{Address: address}
	}
	return nil
}

// AddressError is the error of a denied connection. Address is the dialled host:port. The error is for logs only:
// Address would help the owner of a subscription to explore an internal network.
type AddressError struct{ Address string }

// Error implements error.
func (e *AddressError) Error() string { return "the address " + e.Address + " is not allowed" }

func malformed(why string) error {
	return schema.NewProblem(schema.InvalidWebhookURL, "url", why)
}

func forbidden(why string) error {
	return schema.NewProblem(schema.URLNotAllowed, "url", why)
}
