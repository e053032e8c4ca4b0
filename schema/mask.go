package schema

import "strings"

const (
	// maskShown is how many characters at the end of a masked number stay visible.
	maskShown = 4
	// maskLeast is the length of the shortest number whose last characters stay visible. Four characters of a shorter
	// number would reveal too much of it. Ids of DTH subscribers have eight digits or more.
	maskLeast = 8
)

// MaskNumber replaces the characters of a number by X, except the last four. The number is a mobile number, the id of
// a DTH subscriber or an account number. If a number has fewer than eight characters, MaskNumber replaces all of them.
// MaskNumber is idempotent.
func MaskNumber(number string) string {
	runes := []rune(number)
	shown := len(runes)
	if shown >= maskLeast {
		shown -= maskShown
	}
	return strings.Repeat("X", shown) + string(runes[shown:])
}
