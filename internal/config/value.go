package config

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// Size is a number of bytes. Its text is a whole number with an optional unit. B, kB, MB, GB
// and TB are powers of 1000. KiB, MiB, GiB and TiB are powers of 1024.
type Size int64

// Units of Size.
const (
	KiB Size = 1 << 10
	MiB Size = 1 << 20
	GiB Size = 1 << 30
	TiB Size = 1 << 40
)

// sizeUnits has the units in the order in which they are tried. TB, for example, comes before B, with which it ends.
var sizeUnits = []struct {
	suffix string
	bytes  Size
}{
	{"TiB", TiB},
	{"GiB", GiB},
	{"MiB", MiB},
	{"KiB", KiB},
	{"TB", 1e12},
	{"GB", 1e9},
	{"MB", 1e6},
	{"kB", 1e3},
	{"B", 1},
	{"", 1},
}

// UnmarshalText reads "512MiB", "2GB" or "1048576". Negative sizes and sizes beyond 2^63-1 bytes are errors.
func (s *Size) UnmarshalText(text []byte) error {
	whole := string(text)
	for _, u := range sizeUnits {
		digits, ok := strings.CutSuffix(whole, u.suffix)
		if !ok {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(digits), 10, 63)
		if err != nil || Size(n) > (1<<63-1)/u.bytes {
			break
		}
		*s = Size(n) * u.bytes
		return nil
	}
	return fmt.Errorf(`%s is not a size such as "512MiB" or "2GB"`, quote(whole))
}

// MarshalText writes the size with the largest binary unit that divides it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String is the size as MarshalText writes it.
func (s Size) String() string {
	for _, u := range sizeUnits[:4] {
		if s != 0 && s%u.bytes == 0 {
			return strconv.FormatInt(int64(s/u.bytes), 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Address is a host:port to listen on or to call. The host may be empty (every interface) or an
// IPv6 address in brackets. Port 0 selects a free port.
type Address string

// UnmarshalText checks the form of host:port. It does not resolve the host.
func (a *Address) UnmarshalText(text []byte) error {
	host, port, err := net.SplitHostPort(string(text))
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || strings.ContainsAny(host, " /@") {
		return fmt.Errorf(`%s is not host:port such as "127.0.0.1:8080"`, quote(string(text)))
	}
	*a = Address(text)
	return nil
}

// String returns the address unchanged.
func (a Address) String() string { return string(a) }
