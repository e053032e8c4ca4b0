// Package ssrf decides where webhooks may go: to public addresses only, whatever
// a name resolves to at the moment of the connection.
//
// It judges twice. Check reads the text of a new subscription and tells its
// author early what can be told without DNS. Control stands in the dialer and has
// the last word: names change their addresses, and only an address that is about
// to be connected to cannot.
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

// httpsPort is allowed everywhere.
const httpsPort = 443

// Guard knows the addresses and ports that are allowed. It can be used by many
// goroutines at once.
type Guard struct {
	allow  []netip.Prefix // unmapped and masked
	ports  []uint16       // ascending
	public *ssrf.Guardian
	// local says that names without a public meaning are fine: the operator has
	// networks of his own. loopback says that this machine is among them.
	local, loopback bool
}

// New returns a guard that lets through public addresses at port 443 and at
// ports, and the networks of allow at any port. Ports that are none are left out,
// and so are prefixes that are invalid.
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

// Check judges the URL of a new subscription by its text alone, without asking
// DNS, and returns it with its host in lower case and without the port 443. Its
// error is a *schema.Problem about the field "url": invalid_webhook_url for a URL
// of a wrong form, url_not_allowed for one that leads where no webhook may go.
func (g *Guard) Check(text string) (*url.URL, error) {
	t, err := read(text)
	if err != nil {
		return nil, err
	}
	normal := t.String()
	u, err := url.Parse(normal)
	if err != nil || u.String() != normal || u.Scheme != "https" || u.User != nil || u.Hostname() != t.hostname() {
		return nil, malformed("This URL is not read alike by everybody. Use only the characters of RFC 3986, and percent-encode the rest.")
	}
	if err := g.leads(t); err != nil {
		return nil, err
	}
	return u, nil
}

// leads judges where a URL of the right form leads.
func (g *Guard) leads(t target) error {
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
	if why := g.misnamed(t.name); why != "" {
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
	return forbidden("This port is not allowed. Let the receiver listen at " + strings.Join(list, ", ") + ".")
}

// Control is for net.Dialer: it refuses a connection after resolution, at every
// attempt. The error is an *AddressError.
func (g *Guard) Control(network, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || network != "tcp4" && network != "tcp6" || !g.permits(ap) {
		return &AddressError{Address: address}
	}
	return nil
}

// AddressError is a connection that was refused. Address is host:port as the
// dialer had it: for logs, never for the owner of the subscription, who could map
// a network with it.
type AddressError struct{ Address string }

// Error implements error.
func (e *AddressError) Error() string { return "the address " + e.Address + " is not allowed" }

func malformed(why string) error {
	return schema.Refuse(schema.InvalidWebhookURL, "url", why)
}

func forbidden(why string) error {
	return schema.Refuse(schema.URLNotAllowed, "url", why)
}
