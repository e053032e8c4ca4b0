package sender

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// Texts in Result.Header that do not come from the receiver.
const (
	// Masked replaces values that can be secrets.
	Masked = "[masked]"
	// Cut is the last line of a header that does not fit. No line of a header looks like it, because it has no colon.
	Cut = "…"
)

// secretNames are parts of the names of headers whose values can be secrets, in lower case.
var secretNames = []string{"cookie", "auth", "token", "secret", "password", "-key", "apikey", "jwt", "credential", "session", "csrf"}

// userInfo matches the user and the password of a URL.
var userInfo = regexp.MustCompile(`//[^/@\s]*@`)

// headerText returns the header of a response as lines "Name: value", sorted by name. It has at most keptHeader bytes. It
// masks values that can be secrets, because the operators and analysts of the service must not see secrets of receivers.
func headerText(h http.Header) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, value := range h[name] {
			value = masked(name, value)
			if len(value) > keptValue {
				value = strings.ToValidUTF8(value[:keptValue], "") + Cut
			}
			if b.Len()+len(name)+len(value)+len(": \n")+len(Cut) > keptHeader {
				b.WriteString(Cut)
				return b.String()
			}
			b.WriteString(name)
			b.WriteString(": ")
			b.WriteString(value)
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// masked returns the value of a header, or Masked in place of what can be a secret.
func masked(name, value string) string {
	lower := strings.ToLower(name)
	for _, part := range secretNames {
		if strings.Contains(lower, part) {
			return Masked
		}
	}
	if lower == "location" || lower == "content-location" || lower == "refresh" || lower == "link" { // the query and the fragment of a link can have a token
		value = userInfo.ReplaceAllString(value, "//")
		if end := strings.IndexAny(value, "?#"); end >= 0 {
			return value[:end+1] + Masked
		}
	}
	return value
}
