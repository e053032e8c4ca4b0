package devreceiver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// mostLine is how much of one value is printed, in bytes.
const mostLine = 200

// oneLine is a short text that came from outside, on one line.
func oneLine(text string) string {
	if text == "" {
		return "-"
	}
	if len(text) > mostLine {
		return printable(text[:mostLine], "") + "…"
	}
	return printable(text, "")
}

// printable replaces all that could make a terminal do something, or show text in
// another order than it has: control characters, C1 among them, formatting ones,
// and bytes that are no UTF-8. They are written as JSON escapes them. The
// characters in keep stay.
func printable(text, keep string) string {
	var b strings.Builder
	b.Grow(len(text))
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unicode.IsPrint(c), strings.ContainsRune(keep, c):
			b.WriteString(text[i : i+size])
		case c > 0xffff:
			high, low := utf16.EncodeRune(c)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, c)
		}
		i += size
	}
	return b.String()
}
