package httpapi

import (
	"strconv"
	"strings"
	"time"
)

// PreferWait returns how long the client wants the server to wait for a result before it replies.
// The client states the wait in the preference "wait" of a Prefer header, such as wait=10 (RFC 7240,
// 4.3). Only the first preference "wait" counts. A wait longer than `most` is reduced to `most`. If the
// first preference "wait" is missing or invalid, PreferWait returns 0 and false.
func PreferWait(headers []string, most time.Duration) (wait time.Duration, wanted bool) {
	for _, header := range headers {
		for preference := range preferences(header) {
			preference, _, _ = strings.Cut(preference, ";") // parameters of a preference are ignored
			name, value, _ := strings.Cut(preference, "=")
			if strings.EqualFold(strings.Trim(name, blanks), "wait") {
				return seconds(strings.Trim(value, blanks), most)
			}
		}
	}
	return 0, false
}

// blanks is the optional white space of HTTP (RFC 9110, 5.6.3).
const blanks = " \t"

// preferences splits a header at commas outside quoted text.
func preferences(header string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		from, quoted := 0, false
		for i := 0; i < len(header); i++ {
			switch c := header[i]; {
			case quoted && c == '\\':
				i++ // an escaped character
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

// seconds parses a number of seconds, with or without quotes (RFC 7240, 2). A duration longer than `most` is reduced to
// `most`. If the parameter `text` is not a whole number, seconds returns 0 and false.
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
	if err != nil { // the text has only digits, so the number is too large
		return most, true
	}
	return min(time.Duration(n)*time.Second, most), true
}
