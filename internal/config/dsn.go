package config

import (
	"net/url"
	"strings"
)

// DSN is the address of a database server, such as clickhouse://user:password@host:9000/ or
// postgres://user:password@host/name. The method String hides the password.
type DSN string

// UnmarshalText stores the text unchecked. The text is checked when the database is opened.
func (d *DSN) UnmarshalText(text []byte) error {
	*d = DSN(text)
	return nil
}

// MarshalText writes String, so that a printed configuration contains no password.
func (d DSN) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String is the address with *** for every password. If the text is not an address, String is only
// ***, because the whole text may be a password.
func (d DSN) String() string {
	if d == "" {
		return ""
	}
	const hidden = "***"
	u, err := url.Parse(string(d))
	if scheme, rest, several := strings.Cut(string(d), "://"); err != nil && several && (scheme == "http" || scheme == "https") {
		// net/url rejects a list of hosts in an http or https URL, but accepts it with another scheme.
		if u, err = url.Parse("hosts://" + rest); err == nil {
			u.Scheme = scheme
		}
	}
	if err != nil || u.Scheme == "" || u.Opaque != "" {
		return hidden
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return hidden
	}
	if _, ok := u.User.Password(); ok {
		u.User = url.UserPassword(u.User.Username(), hidden)
	}
	found := false
	for name := range q { // for example sslpassword, the password of the client's key
		if strings.HasSuffix(strings.ToLower(name), "password") {
			q.Set(name, hidden)
			found = true
		}
	}
	if found { // otherwise the query stays as it is, because Encode could change its order and escapes
		u.RawQuery = q.Encode()
	}
	return strings.ReplaceAll(u.String(), "%2A%2A%2A", hidden)
}
