package schema

import (
	"unicode"
	"unicode/utf8"
)

// MaxRefLength is how many characters a client's reference may have (CONTRACT 2).
const MaxRefLength = 255

// joiners are the characters that cannot be seen and are needed all the same: by
// Indian scripts, and by emoji that are made of several, such as families and the
// flags of regions.
var joiners = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x200c, Hi: 0x200d, Stride: 1}},
	R32: []unicode.Range32{{Lo: 0xe0020, Hi: 0xe007f, Stride: 1}},
}

// IsRef says whether a text can be a client's reference, the ref_id of recharges,
// payments and batches: 1 to 255 printable characters of any script, emoji and
// blanks included. Line breaks, control characters and what turns the direction of
// writing are none.
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
