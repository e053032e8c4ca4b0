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

// target is a well-formed URL: a name or an address, a port, and the path and query as rest.
// The rest is empty or starts with / or ?.
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

// read parses a URL. It is deliberately stricter than net/url: it rejects texts that other
// parsers may interpret differently.
func read(text string) (target, error) {
	if err := checkBytes(text); err != nil {
		return target{}, err
	}
	const scheme = "https://"
	if len(text) < len(scheme) || !strings.EqualFold(text[:len(scheme)], scheme) {
		return target{}, malformed("The URL must begin with https://.")
	}
	host, rest := text[len(scheme):], ""
	if i := strings.IndexAny(host, "/?"); i >= 0 {
		host, rest = host[:i], host[i:]
	}
	switch {
	case strings.Contains(host, "@"):
		return target{}, malformed("The URL must have no user name and no password. Deliveries are signed instead.")
	case strings.Contains(host, "%"):
		return target{}, malformed("The host must have no percent sign, and an address in it no zone.")
	}
	host, port, err := splitPort(host)
	if err != nil {
		return target{}, err
	}
	t := target{port: port, rest: rest}
	if strings.HasPrefix(host, "[") {
		t.addr, err = readIPv6(host)
	} else {
		t.name, t.addr, err = readHost(strings.ToLower(host))
	}
	return t, err
}

// checkBytes checks the length and every character of a URL.
func checkBytes(text string) error {
	switch {
	case text == "":
		return malformed("The URL is empty. Give one that begins with https://.")
	case len(text) > maxLength:
		return malformed("The URL must be no longer than 2048 characters.")
	}
	for i := range len(text) {
		switch c := text[i]; {
		case c <= ' ' || c == 0x7f:
			return malformed("The URL must have no blanks and no control characters. Percent-encode them.")
		case c > 0x7f:
			return malformed("The URL must be ASCII. Write the host in its punycode form (xn--…), and percent-encode the rest.")
		case c == '\\':
			return malformed("The URL must have no backslash. Use /.")
		case c == '#':
			return malformed("The URL must have no fragment. Leave out the # and what follows.")
		case strings.IndexByte("\"<>^`{|}", c) >= 0:
			return malformed("The URL must have none of \" < > ^ ` { | }. Percent-encode them.")
		}
	}
	if strings.Contains(escape.ReplaceAllString(text, ""), "%") {
		return malformed("A percent sign in the URL must be followed by two hexadecimal digits.")
	}
	return nil
}

// escape is a percent-encoded byte.
var escape = regexp.MustCompile("%[0-9A-Fa-f]{2}")

// splitPort splits a text into host and port. A text without a port has the port 443.
func splitPort(text string) (host string, port uint16, err error) {
	host = text
	if i := strings.LastIndexByte(text, ':'); i > strings.LastIndexByte(text, ']') {
		host = text[:i]
		digits := text[i+1:]
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 || strconv.FormatUint(n, 10) != digits {
			return "", 0, malformed("The port must be a number from 1 to 65535, written plainly. Leave it and its colon out for 443.")
		}
		port = uint16(n)
	} else {
		port = httpsPort
	}
	switch {
	case host == "":
		return "", 0, malformed("The URL needs a host name after https://.")
	case host[0] != '[' && strings.Contains(host, ":"):
		return "", 0, malformed("An IPv6 address in the URL must stand in brackets.")
	}
	return host, port, nil
}

func readIPv6(host string) (netip.Addr, error) {
	addr, err := netip.ParseAddr(strings.TrimSuffix(host[1:], "]"))
	if err != nil || !addr.Is6() || !strings.HasSuffix(host, "]") {
		return netip.Addr{}, malformed("What stands in brackets must be an IPv6 address.")
	}
	return addr, nil
}
