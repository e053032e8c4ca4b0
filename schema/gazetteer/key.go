package gazetteer

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// AppendKey appends the key of a place's name to b. All spellings of a name have the same key. The key is in lower
// case, without blanks, hyphens, dots, commas, brackets, underscores and diacritics. It keeps the vowel signs of Indian
// scripts, which are marks in Unicode but distinguish names. It keeps all other characters, so a name with a stray
// quote or angle bracket matches no city. AppendKey does not allocate for an ASCII name if b has enough capacity.
func AppendKey(b []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= utf8.RuneSelf:
			return appendKeySlow(b, name[i:])
		case c >= 'A' && c <= 'Z':
			b = append(b, c+('a'-'A'))
		case c == ' ' || c == '-' || c == '.' || c == ',' || c == '(' || c == ')' || c == '_' || c == '\t':
		default:
			b = append(b, c)
		}
	}
	return b
}

// nukta is the dot below a Devanagari letter. Writers often omit it: फरीदाबाद instead of फ़रीदाबाद.
const nukta = '\u093c'

func appendKeySlow(b []byte, name string) []byte {
	for _, r := range norm.NFKD.String(name) {
		switch {
		case r >= 0x300 && r <= 0x36f, r == nukta, r == '\u200c', r == '\u200d': // combining accents, joiners
		case unicode.IsSpace(r), unicode.Is(unicode.Pd, r):
		case r == '.' || r == ',' || r == '(' || r == ')' || r == '_':
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b
}

// Key returns the key of a place's name, which is the same for all spellings of the name; see [AppendKey].
func Key(name string) string { return string(AppendKey(make([]byte, 0, len(name)), name)) }
