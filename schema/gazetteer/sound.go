package gazetteer

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// letters has the Latin letters of each character of an Indian script, by its place in the Unicode block of the script.
// The vowel "a" that is spoken after each consonant is omitted. Characters without an entry have no sound.
var letters = [blockSize]string{
	0x01: "n", 0x02: "n", 0x05: "a", 0x06: "a", 0x07: "i", 0x08: "i", 0x09: "u", 0x0a: "u", 0x0b: "ri", 0x0c: "li", 0x0d: "e",
	0x0e: "e", 0x0f: "e", 0x10: "e", 0x11: "o", 0x12: "o", 0x13: "o", 0x14: "o",
	0x15: "k", 0x16: "k", 0x17: "g", 0x18: "g", 0x19: "n", 0x1a: "ch", 0x1b: "ch", 0x1c: "j", 0x1d: "j", 0x1e: "n",
	0x1f: "t", 0x20: "t", 0x21: "d", 0x22: "d", 0x23: "n", 0x24: "t", 0x25: "t", 0x26: "d", 0x27: "d", 0x28: "n", 0x29: "n",
	0x2a: "p", 0x2b: "p", 0x2c: "b", 0x2d: "b", 0x2e: "m", 0x2f: "y", 0x30: "r", 0x31: "r", 0x32: "l", 0x33: "l", 0x34: "l",
	0x35: "v", 0x36: "s", 0x37: "s", 0x38: "s", 0x39: "h",
	0x3e: "a", 0x3f: "i", 0x40: "i", 0x41: "u", 0x42: "u", 0x43: "ri", 0x45: "e", 0x46: "e", 0x47: "e", 0x48: "e", 0x49: "o",
	0x4a: "o", 0x4b: "o", 0x4c: "o", 0x5c: "r", 0x5d: "r", 0x5e: "p", 0x5f: "y",
	0x70: "n", 0x71: "v", 0x7a: "n", 0x7b: "n", 0x7c: "r", 0x7d: "l", 0x7e: "l", 0x7f: "k", // Malayalam's final consonants
}

// Places of characters in the Unicode block of an Indian script, counted from the start of the block.
const (
	anusvara       = 0x02
	ya             = 0x2f
	nuktaSign      = 0x3c
	firstConsonant = 0x15
	lastConsonant  = 0x39
	vowelSigns     = 0x3e // the first vowel sign
	virama         = 0x4d
)

// Numbers of scripts (see [Script]) in which some characters sound different than in the other scripts.
const (
	bengali  = 2
	gurmukhi = 3
	odia     = 5
	tamil    = 6
)

// Sound returns in Latin letters roughly how a word in Latin or Indian script sounds. Words of different scripts that
// name the same place mostly have the same sound. Sound leaves out what the scripts write differently: the vowel "a",
// the length of vowels, aspiration and doubled consonants. It replaces "e" by "i", and "o" by "u". For words in other
// scripts, it returns "".
func Sound(word string) string {
	if Script(word) == 0 {
		return fold(strings.ToLower(norm.NFKD.String(word)))
	}
	var b strings.Builder
	all := []rune(norm.NFKC.String(word)) // composes signs of vowels, but not a letter and its nukta
	for i, r := range all {
		script := Script(string(r))
		if script == 0 {
			continue
		}
		place := int(r) % blockSize
		text := letters[place]
		next := 0 // place of the next character
		if i+1 < len(all) && Script(string(all[i+1])) == script {
			next = int(all[i+1]) % blockSize
		}
		switch {
		case place == anusvara && i+1 == len(all):
			text = "m"
		case next == nuktaSign:
			text = withNukta(place, text)
		case place == ya && (script == bengali || script == odia):
			text = "j"
		case place == 0x71 && script == gurmukhi: // the sign of a doubled consonant
			text = ""
		case place == 0x70 && script == bengali: // Assamese
			text = "r"
		}
		b.WriteString(text)
		consonant := place >= firstConsonant && place <= lastConsonant
		if consonant && next == nuktaSign && i+2 < len(all) {
			next = int(all[i+2]) % blockSize
		}
		if consonant && (next < vowelSigns || next > virama) {
			b.WriteByte('a')
		}
	}
	return fold(b.String())
}

// withNukta returns the Latin letter of a consonant with a nukta. `text` is the Latin letter without the nukta.
func withNukta(place int, text string) string {
	switch text {
	case "d":
		return "r"
	case "j":
		return "z"
	case "p":
		return "f"
	}
	if place == ya {
		return "y"
	}
	return text
}

// similar replaces Latin letters and groups of letters, so that letters that sound alike become the same letter.
var similar = strings.NewReplacer("zh", "l", "chh", "C", "ch", "C", "ck", "k", "c", "k", "ph", "p", "f", "p", "z", "j", "q", "k", "x", "ks", "w", "v", "sh", "s")

// fold returns the sound (see [Sound]) of a lower-case word in Latin letters. It leaves out characters beyond ASCII.
func fold(word string) string {
	if before, ok := strings.CutSuffix(word, "ore"); ok { // as in Indore
		word = before + "or"
	}
	word = similar.Replace(word)
	out := make([]byte, 0, len(word))
	last := byte(0) // the previous letter, even if it was left out
	for i := range len(word) {
		c := word[i]
		switch {
		case c >= 0x80: // an accent, or another script
			continue
		case c == 'e', c == 'y':
			c = 'i'
		case c == 'o':
			c = 'u'
		case c == 'm' && i+1 < len(word) && (word[i+1] == 'p' || word[i+1] == 'b'):
			c = 'n'
		}
		n := len(out)
		silent := c == last || c == 'i' && n > 0 && out[n-1] == 'i' || c == 'a' && i > 0 || c == 'h' && strings.IndexByte("kgCjtdpbslrn", last) >= 0
		if !silent {
			if (c == 'i' || c == 'u') && n == 1 && out[0] == 'a' && last == 'a' { // ai and au
				out = out[:0]
			}
			out = append(out, c)
		}
		last = c
	}
	if n := len(out); n > 3 && out[n-1] == 'u' { // in Dravidian scripts, words often end with this vowel
		out = out[:n-1]
	}
	return string(out)
}

// Merge prepares the sound of a word for a comparison with a word in `script` (see [Script]). It replaces, in `sound`
// itself, the letters that this script lacks. Tamil has no voiced consonants, and Bengali and Odia have no v.
func Merge(sound []byte, script int) []byte {
	from, to := "", ""
	switch script {
	case tamil:
		from, to = "gjCsdbh", "kssstpk"
	case bengali, odia:
		from, to = "v", "b"
	}
	for i, c := range sound {
		if n := strings.IndexByte(from, c); n >= 0 {
			sound[i] = to[n]
		}
	}
	return sound
}
