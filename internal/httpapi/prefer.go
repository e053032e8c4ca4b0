package httpapi

import (
	"strconv"
	"strings"
	"time"
)

// PreferWait is how long a client wants a reply to wait for an outcome, most at
// most: the preference wait in whole seconds of its Prefer headers (RFC 7240, 4.3).
// What is not understood there is passed over, as section 2 asks for, and of several
// the first counts. Wanted is false, and wait 0, when it says nothing about that.
func PreferWait(headers []string, most time.Duration) (wait time.Duration, wanted bool) {
	for _, header := range headers {
		for preference := range preferences(header) {
			preference, _, _ = strings.Cut(preference, ";") // its parameters mean nothing here
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.Trim(name, blanks), "wait") {
				return seconds(strings.Trim(value, blanks), most)
			}
		}
	}
	return 0, false
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

// seconds reads a number of seconds up to most, in quotes or without (RFC 7240, 2:
// both are the same); 0 and false when it is none.
func seconds(text string, most time.Duration) (time.Duration, bool) {
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		if text, ok = strings.CutSuffix(quoted, `"`); !ok {
			return 0, false
		}
	}
	if text == "" || strings.Trim(text, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil { // it has only digits: it is too large
		return most, true
	}
	return min(time.Duration(n)*time.Second, most), true
}
