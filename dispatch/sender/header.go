package sender

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// These texts in Result.Header do not come from the receiver.
const (
	// Masked replaces a value, or a part of a value, that may be secret.
	Masked = "[masked]"
	// Cut is the last line of Result.Header if lines are missing. It also ends a value that was shortened. No line of a
	// header equals Cut, because Cut has no colon.
	Cut = "…"
)

// secretNames are texts in lower case. If the name of a header contains one of them, the header's value may be secret.
var secretNames = []string{"cookie", "auth", "token", "secret", "password", "-key", "apikey", "jwt", "credential", "session", "csrf"}

// userInfo matches the user name and the password in a URL.
var userInfo = regexp.MustCompile(`//[^/@\s]*@`)

// headerText returns the header of a response as lines "Name: value", sorted by name, with at most keptHeader bytes. It
// masks values that may be secret, because the operators and analysts of the service must not see secrets of receivers.
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

// masked replaces the parts of a header's value that may be secret by Masked. From links, it removes user and password.
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
