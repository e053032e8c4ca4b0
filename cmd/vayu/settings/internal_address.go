package settings

import (
	"net"
	"strconv"

	"vayu/internal/config"
)

// Values of the setting internal-listen that are not an address.
const (
	InternalOff    = "off"    // metrics are not served
	InternalPublic = "public" // metrics and detailed readiness are at the address of the API, as in version 0.1.0
)

// InternalOffset is the default difference between the port of the internal listener and the port of the API.
// Instances on one machine have different API ports, so their internal ports differ too.
const InternalOffset = 1000

const maxPort = 1<<16 - 1

func (c Config) checkInternal(f *config.Faults) {
	switch c.InternalListen {
	case "", InternalOff, InternalPublic:
		return
	}
	err := new(config.Address).UnmarshalText([]byte(c.InternalListen))
	f.Check(err == nil, "internal-listen", "%w, and neither %s nor %s", err, InternalOff, InternalPublic)
}

// InternalAddress returns the address of the internal listener, or "" if there is no such listener. `chosen` is true if
// the operator has set internal-listen.
func (c Config) InternalAddress() (address string, chosen bool) {
	switch c.InternalListen {
	case InternalOff, InternalPublic:
		return "", true
	case "":
	default:
		return c.InternalListen, true
	}
	_, text, err := net.SplitHostPort(string(c.Listen))
	if err != nil { // Validate rejects such an address
		return "", false
	}
	port, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return "", false
	case port == 0: // any free port
	case port+InternalOffset > maxPort:
		port -= InternalOffset
	default:
		port += InternalOffset
	}
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), false
}

// LocalURL returns the base URL of the API for a client on this machine.
func (c Config) LocalURL() string {
	if c.TLS.Enabled() {
		return "https://" + localAddress(string(c.Listen))
	}
	return "http://" + localAddress(string(c.Listen))
}

// InternalURL returns the base URL of the internal listener, or "" if there is no such listener.
func (c Config) InternalURL() string {
	address, _ := c.InternalAddress()
	if address == "" {
		return ""
	}
	return "http://" + localAddress(address)
}

// localAddress returns the address at which a client on this machine can connect to a listener. If the listener
// listens on all addresses (such as 0.0.0.0), it returns a loopback address.
func localAddress(listens string) string {
	host, port, err := net.SplitHostPort(listens)
	at := net.ParseIP(host)
	switch {
	case err != nil: // Validate rejects such an address
		return listens
	case host == "", at.Equal(net.IPv4zero):
		host = "127.0.0.1"
	case at.Equal(net.IPv6unspecified):
		host = "::1"
	}
	return net.JoinHostPort(host, port)
}
