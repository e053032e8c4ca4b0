package schema

import "strings"

// longestID exceeds the length of every id.
const longestID = 64

// IsID reports whether a text can be an id: 1 to 64 ASCII letters, digits and
// underscores. Other texts need no lookup. PostgreSQL fails on some of them (NUL).
func IsID(text string) bool {
	strange := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_'
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, strange)
}
