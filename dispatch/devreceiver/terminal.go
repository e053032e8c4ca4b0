package devreceiver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxLine is how many bytes of a text oneLine prints.
const maxLine = 200

// oneLine returns an untrusted text as one short line.
func oneLine(text string) string {
	if text == "" {
		return "-"
	}
	if len(text) > maxLine {
		return printable(text[:maxLine], "") + "…"
	}
	return printable(text, "")
}

// printable escapes what could control a terminal or reorder text. A character that
// unicode.IsPrint rejects gets a JSON escape, unless it is in keep. A byte of invalid UTF-8
// becomes \x and two digits.
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
