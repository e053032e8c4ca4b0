package schema

import "strings"

// longestID is more than any id has.
const longestID = 64

// IsID reports whether a text can be an id of anything: 1 to 64 ASCII letters,
// digits and underscores. What cannot is not there, and no store need be asked;
// PostgreSQL would not even take every text.
func IsID(text string) bool {
	strange := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_'
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, strange)
}
