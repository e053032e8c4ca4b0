// Package signup has the wire types of sign-ups, in which people create accounts for themselves.
package signup

import "regexp"

// longestEmail is the maximum length of an e-mail address: the 256 bytes of a path in RFC 5321 (4.5.3.1.3), less "<>".
const longestEmail = 254

// email matches a dot-atom, "@" and a domain with a dot (RFC 5322, 3.4.1). It is also the pattern in the API contract.
// It excludes quoted names, comments, literal addresses and other scripts. Domains in other scripts have an ASCII form.
var email = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@" +
	`([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]([A-Za-z0-9-]{0,61}[A-Za-z0-9])$`)

// IsEmail reports whether a text is an e-mail address to which mail can be sent. Such a text has no line breaks, so it
// can be in the header of a mail.
func IsEmail(text string) bool { return len(text) <= longestEmail && email.MatchString(text) }

// Mode is the reply to GET /v1/signup.
type Mode struct {
	Status string `json:"status"`
	Mode   string `json:"mode"` // off, invite or open
}

// Made is the reply to POST /v1/signup: a new account with a sandbox key.
type Made struct {
	Status  string `json:"status"`
	Account string `json:"account_id"`
	Key     string `json:"key"`
	// ExpiresAt is the time at which the service erases the account and its key, unless the address is confirmed.
	ExpiresAt string `json:"expires_at"`
}

// Confirmed is the reply to POST /v1/signup/confirm.
type Confirmed struct {
	Status  string `json:"status"`
	Outcome string `json:"outcome"` // confirmed, already_confirmed or address_in_use
	Account string `json:"account_id"`
	Key     string `json:"key,omitempty"` // the live key; only in the first reply
}
