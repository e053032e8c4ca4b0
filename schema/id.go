package schema

import "strings"

// longestID exceeds the length of every id.
const longestID = 64

// IsID reports whether a text can be an id: 1 to 64 ASCII letters, digits and
// underscores. Any other text needs no lookup in the store. PostgreSQL would fail
// on some of them, such as a text with a NUL.
func IsID(text string) bool {
	strange := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_'
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, strange)
}
