package ssrf

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// maxLength is the limit of a URL in bytes. RFC 9110 4.1 recommends support for 8,000 bytes, but
// old receivers and proxies support only 2,048.
const maxLength = 2048

var (
	// form matches a URL: host, port, and path with query. It is deliberately stricter than net/url, because parsers
	// may interpret other texts differently.
	form = regexp.MustCompile(`^(?i:https)://([a-zA-Z0-9.-]+|\[[0-9a-fA-F:.]+\])(?::([1-9][0-9]{0,4}))?` +
		`((?:[/?](?:[a-zA-Z0-9._~!$&'()*+,;=:@/?\[\]-]|%[0-9a-fA-F]{2})*)?)$`)
	// hostName matches a lower-case name of letters, digits and hyphens in labels (RFC 1123, 2.1).
	hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$`)
	// numeric matches a host that parsers may read as an IPv4 address (127.1, 0x7f.1, 2130706433). The
	// WHATWG URL standard calls this "ends in a number".
	numeric = regexp.MustCompile(`(^|\.)([0-9]+|0x[0-9a-f]*)$`)
)

// target is a well-formed URL: a name or an address, a port, and the path with the query in the field `rest`. That
// field is empty or starts with / or ?.
type target struct {
	name string // lower case; empty for an address
	addr netip.Addr
	port uint16
	rest string
}

func (t target) hostname() string {
	if t.addr.IsValid() {
		return t.addr.String()
	}
	return t.name
}

// String returns the normalised URL.
func (t target) String() string {
	host := t.hostname()
	if t.addr.Is6() {
		host = "[" + host + "]"
	}
	if t.port != httpsPort {
		host += ":" + strconv.Itoa(int(t.port))
	}
	return "https://" + host + t.rest
}

func read(text string) (target, error) {
	parts := form.FindStringSubmatch(text)
	if parts == nil || len(text) > maxLength {
		return target{}, malformed("The URL must begin with https:// and a host, and have at most 2048 characters of RFC 3986, " +
			"no user name, no password and no fragment. Percent-encode other characters, and write the host in its punycode form (xn--…).")
	}
	host := strings.ToLower(parts[1])
	t := target{port: httpsPort, rest: parts[3]}
	if parts[2] != "" {
		port, err := strconv.ParseUint(parts[2], 10, 16)
		if err != nil {
			return t, malformed("The port must be a number from 1 to 65535. Leave it and its colon out for 443.")
		}
		t.port = uint16(port)
	}
	var err error
	switch bare, isIPv6 := strings.CutPrefix(host, "["); {
	case isIPv6:
		if t.addr, err = netip.ParseAddr(strings.TrimSuffix(bare, "]")); err != nil || !t.addr.Is6() {
			return t, malformed("The text in brackets must be an IPv6 address.")
		}
	case numeric.MatchString(host):
		if t.addr, err = netip.ParseAddr(host); err != nil {
			return t, malformed("The host looks like an IPv4 address. Write that as four decimal numbers without leading zeros.")
		}
	case len(host) > 253 || !hostName.MatchString(host):
		return t, malformed("The host must be a name of at most 253 characters: parts of 1 to 63 letters, digits and hyphens, " +
			"none with a hyphen at an end, and dots between them.")
	default:
		t.name = host
	}
	return t, nil
}
