package schema

import "strings"

const (
	// maskShown is how many characters at the end of a masked number stay readable.
	maskShown = 4
	// maskLeast is the length from which on they do: four of a shorter number would
	// give most of it away. Ids of DTH subscribers have eight digits or more.
	maskLeast = 8
)

// MaskNumber replaces all characters of a mobile number, a DTH subscriber's id or an
// account number by X, except the last four. Nothing of a text with fewer than eight
// characters stays. Masking a masked number changes nothing.
func MaskNumber(number string) string {
	runes := []rune(number)
	shown := len(runes)
	if shown >= maskLeast {
		shown -= maskShown
	}
	return strings.Repeat("X", shown) + string(runes[shown:])
}
