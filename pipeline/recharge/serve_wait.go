package recharge

import (
	"strconv"
	"strings"
	"time"
)

// How long a reply waits for the operator (CONTRACT 4): long enough for one that
// answers at once, and a reply within a second (spec 8); who wants to wait may do so
// for half of the time that the server gives to a reply.
const (
	defaultWait = 800 * time.Millisecond
	longestWait = 30 * time.Second
)

// waitOf is how long the client wants to wait: the preference wait of its Prefer
// header (RFC 7240, 4.3). What is not understood there is passed over, as section 2
// asks for, and of several the first counts. Wanted is false when it wants nothing,
// and the wait is the usual one.
func waitOf(headers []string) (wait time.Duration, wanted bool) {
	for _, header := range headers {
		for preference := range preferences(header) {
			preference, _, _ = strings.Cut(preference, ";") // its parameters mean nothing here
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.Trim(name, blanks), "wait") {
				continue
			}
			return seconds(strings.Trim(value, blanks))
		}
	}
	return defaultWait, false
}

// blanks are the optional white space of HTTP (RFC 9110, 5.6.3).
const blanks = " \t"

// preferences are the parts of a header between commas that stand in no quoted text.
func preferences(header string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from, quoted := 0, false
		for i := 0; i < len(header); i++ {
			switch c := header[i]; {
			case quoted && c == '\\':
				i++ // what follows stands for itself
			case c == '"':
				quoted = !quoted
			case c == ',' && !quoted:
				if !yield(header[from:i]) {
					return
				}
				from = i + 1
			}
		}
		yield(header[from:])
	}
}

// seconds reads a number of seconds, in quotes or without (RFC 7240, 2: both are
// the same); the usual wait, and false, when it is none.
func seconds(text string) (time.Duration, bool) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		if text, ok = strings.CutSuffix(quoted, `"`); !ok {
			return defaultWait, false
		}
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return defaultWait, false
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil { // it has only digits: it is too large
		return longestWait, true
	}
	return min(time.Duration(n)*time.Second, longestWait), true
}
