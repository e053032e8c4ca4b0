package config

import (
	"net/url"
	"strings"
)

// DSN is the address of a database server, such as clickhouse://user:password@host:9000/ or
// postgres://user:password@host/name. Its String hides the password.
type DSN string

// UnmarshalText takes the text as it is; who opens it checks it.
func (d *DSN) UnmarshalText(text []byte) error {
	*d = DSN(text)
	return nil
}

// MarshalText writes String, so that a printed configuration tells no password.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the address with *** for the password, wherever it stands.
func (d DSN) String() string {
	u, err := url.Parse(string(d))
	if err != nil || d == "" {
		return strings.Repeat("*", 3*min(1, len(d)))
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), "***")
	}
	if q := u.Query(); q.Get("password") != "" {
		q.Set("password", "***")
		u.RawQuery = q.Encode()
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", "***")
}
