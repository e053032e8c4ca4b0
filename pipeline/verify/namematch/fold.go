package namematch

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// fold returns s in lower case without accents, invisible marks and punctuation, and reuses the memory of
// buf. Blanks separate words. A slash after a letter stays, because S/O and M/S have a meaning.
func fold(buf []byte, s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return foldUnicode(buf, s)
		}
	}
	for i := range len(s) {
		buf = foldASCII(buf, s[i])
	}
	return string(buf)
}

func foldASCII(buf []byte, c byte) []byte {
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return append(buf, c)
	case 'A' <= c && c <= 'Z':
		return append(buf, c+'a'-'A')
	case c == '\'', c == '`':
		return buf // D'Souza is one word
	case c == '&':
		return append(buf, " & "...)
	case c == '/':
		if len(buf) > 0 && buf[len(buf)-1] != ' ' {
			return append(buf, '/')
		}
		return buf
	case len(buf) > 0 && buf[len(buf)-1] != ' ':
		return append(buf, ' ')
	}
	return buf
}

// foldUnicode does the same as fold, for a text that is not ASCII. It first decomposes the text (NFKD): accents become
// separate characters, and ligatures and full-width letters become plain letters.
func foldUnicode(buf []byte, s string) string {
	var space [2 * maxLetters]byte
	apart := norm.NFKD.AppendString(space[:0], strings.ToValidUTF8(s, " "))
	for i := 0; i < len(apart); {
		r, size := utf8.DecodeRune(apart[i:])
		i += size
		if plainDevanagari(r) {
			buf = utf8.AppendRune(buf, r)
		} else {
			buf = foldRune(buf, r)
		}
	}
	return string(buf)
}

// plainDevanagari reports whether r is a Devanagari letter that stays unchanged, so that foldRune is not needed.
func plainDevanagari(r rune) bool { return 'अ' <= r && r <= 'ह' }

func foldRune(buf []byte, r rune) []byte {
	switch {
	case r == '’' || r == '‘' || r == 'ʼ':
		return buf
	case r < utf8.RuneSelf:
		return foldASCII(buf, byte(r))
	case 'ा' <= r && r <= virama && len(buf) > 0 && buf[len(buf)-1] >= utf8.RuneSelf:
		return utf8.AppendRune(buf, r)
	case r == nukta: // distinguishes letters in ड़ and ढ़; elsewhere it is often omitted
		if last, _ := utf8.DecodeLastRune(buf); last == 'ड' || last == 'ढ' {
			return utf8.AppendRune(buf, r)
		}
		return buf
	case r == 'ँ':
		return append(buf, "ं"...)
	case unseen(r):
		return buf
	}
	// The conversion to upper case comes first, because it turns dotless i into I and final sigma into Σ. Lower case
	// then gives i and σ.
	r = unicode.ToLower(unicode.ToUpper(r))
	if plain, ok := plainLetters[r]; ok {
		return append(buf, plain...)
	}
	switch {
	case r < utf8.RuneSelf:
		return foldASCII(buf, byte(r))
	case unicode.IsLetter(r), unicode.IsDigit(r):
		return utf8.AppendRune(buf, r)
	case unicode.IsMark(r): // a vowel sign belongs to the letter before it
		if len(buf) > 0 && buf[len(buf)-1] >= utf8.RuneSelf {
			return utf8.AppendRune(buf, r)
		}
		return buf
	}
	return foldASCII(buf, ' ')
}

// unseen reports whether r is a mark that does not turn the letter before it into another letter. Examples are accents,
// Arabic vowel points, variation selectors, joiners and marks of the writing direction.
func unseen(r rune) bool {
	switch {
	case 0x0300 <= r && r <= 0x036F, 0x1AB0 <= r && r <= 0x1AFF, 0x1DC0 <= r && r <= 0x1DFF,
		0x20D0 <= r && r <= 0x20FF, 0xFE20 <= r && r <= 0xFE2F,
		0x064B <= r && r <= 0x065F, r == 0x0670, 0xFE00 <= r && r <= 0xFE0F:
		return true
	}
	return unicode.Is(unicode.Cf, r)
}

// plainLetters holds the plain forms of letters that NFKD does not decompose.
var plainLetters = map[rune]string{
	'ß': "ss", 'æ': "ae", 'œ': "oe", 'ø': "o", 'đ': "d", 'ł': "l", 'þ': "th", 'ð': "d",
}
