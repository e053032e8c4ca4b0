// Package numbering knows what numbers look like and whose they are by the national
// numbering plan: mobile numbers, ids of DTH subscribers, operators, circles and
// series. It does no I/O and keeps nothing.
package numbering

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longest is more than anybody writes a number with, in bytes.
const longest = 32

// Mobile reads an Indian mobile number: [6-9] and nine more ASCII digits, after
// +91, 91 or 0, with blanks and hyphens between them (National Numbering Plan 2003:
// numbers of mobiles have ten digits; none begins with 0 to 5). It returns the ten
// digits. A hyphen in front is refused: it is the sign of a negative number. Digits of other scripts are refused: they look alike and are not what
// operators take.
func Mobile(text string) (digits string, ok bool) {
	text = strings.TrimLeft(text, " ")
	text, plus := strings.CutPrefix(text, "+")
	digits, ok = onlyDigits(text)
	if !ok {
		return "", false
	}
	switch {
	case len(digits) == 12 && strings.HasPrefix(digits, "91"):
		digits = digits[2:]
	case plus:
		return "", false
	case len(digits) == 11 && digits[0] == '0':
		digits = digits[1:]
	}
	if len(digits) != 10 || digits[0] < '6' {
		return "", false
	}
	return digits, true
}

// SubscriberID reads the id of a DTH subscriber: 8 to 12 ASCII digits, with blanks
// and hyphens behind the first; leading zeros are part of it. The operators print ten
// digits (Airtel Digital TV, Tata Play) or eleven (Dish TV and Sun Direct: the
// number of the card), d2h fewer; which is right is for the operator to say.
func SubscriberID(text string) (id string, ok bool) {
	id, ok = onlyDigits(text)
	if !ok || len(id) < 8 || len(id) > 12 {
		return "", false
	}
	return id, true
}

// onlyDigits drops blanks and hyphens; it is not ok when anything but ASCII digits
// is left, when a hyphen comes before them, or when text is longer than longest.
func onlyDigits(text string) (string, bool) {
	if len(text) > longest || strings.HasPrefix(strings.TrimLeft(text, " "), "-") {
		return "", false
	}
	var kept [longest]byte
	n := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ' || c == '-':
		case c < '0' || c > '9':
			return "", false
		default:
			kept[n] = c
			n++
		}
	}
	return string(kept[:n]), true
}

// key is what names are compared by: lower case, without blanks, punctuation and
// symbols. It is empty for what is no name.
func key(text string) string {
	if len(text) > 4*longest || !utf8.ValidString(text) {
		return ""
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) || unicode.IsSymbol(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
