package schema

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRefLength is the largest number of characters in a client's reference (ref_id).
const MaxRefLength = 255

// joiners are invisible characters that are valid in a reference. Indian scripts and composed emoji (such as families
// and the flags of regions) need them.
var joiners = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x200c, Hi: 0x200d, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0020, Hi: 0xe007f, Stride: 1}},
}

// IsRef reports whether a text is a valid ref_id, the client's reference for a recharge, payment or batch. A ref_id has
// 1 to 255 printable characters of any script, including emoji and blanks. Line breaks, control characters and
// direction overrides are invalid.
func IsRef(text string) bool {
	if text == "" || !utf8.ValidString(text) || utf8.RuneCountInString(text) > MaxRefLength {
		return false
	}
	for _, r := range text {
		if !unicode.IsGraphic(r) && !unicode.Is(joiners, r) {
			return false
		}
	}
	return true
}

// longestID is an upper limit of the length of ids.
const longestID = 64

// IsID reports whether a text can be an id: 1 to 64 ASCII letters, digits and underscores. Callers query the store
// only for such texts, because PostgreSQL returns an error for a text with a NUL character.
func IsID(text string) bool {
	strange := func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c != '_'
	}
	return text != "" && len(text) <= longestID && !strings.ContainsFunc(text, strange)
}
