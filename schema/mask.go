package schema

import "strings"

const (
	// maskShown is the number of visible characters at the end of a masked number.
	maskShown = 4
	// maskLeast is the shortest number with visible characters. Four of a shorter
	// number would reveal most of it. Ids of DTH subscribers have eight digits or
	// more.
	maskLeast = 8
)

// MaskNumber replaces the characters of a mobile number, a DTH subscriber's id or
// an account number by X, except the last four. It masks texts under eight
// characters completely. It is idempotent.
func MaskNumber(number string) string {
	runes := []rune(number)
	shown := len(runes)
	if shown >= maskLeast {
		shown -= maskShown
	}
	return strings.Repeat("X", shown) + string(runes[shown:])
}
