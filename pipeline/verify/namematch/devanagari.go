package namematch

// These signs of Devanagari need rules of their own.
const (
	nukta    = '़' // dot that turns the consonant above it into another one
	virama   = '्' // removes the inherent vowel of a consonant
	anusvara = 'ं' // nasal, written n
)

// The tables below follow the Hunterian system, the national standard of romanisation. They omit its diacritics, as
// banks do in names. They do not distinguish long and short vowels, because the sound key (the phonetic form of a word)
// treats both alike.
var devanagariConsonants = map[rune]string{
	'क': "k", 'ख': "kh", 'ग': "g", 'घ': "gh", 'ङ': "n", 'च': "ch", 'छ': "chh", 'ज': "j", 'झ': "jh", 'ञ': "n",
	'ट': "t", 'ठ': "th", 'ड': "d", 'ढ': "dh", 'ण': "n", 'त': "t", 'थ': "th", 'द': "d", 'ध': "dh", 'न': "n",
	'प': "p", 'फ': "ph", 'ब': "b", 'भ': "bh", 'म': "m", 'य': "y", 'र': "r", 'ल': "l", 'ळ': "l", 'व': "v",
	'श': "sh", 'ष': "sh", 'स': "s", 'ह': "h",
}

var devanagariVowels = map[rune]string{
	'अ': "a", 'आ': "a", 'इ': "i", 'ई': "i", 'उ': "u", 'ऊ': "u", 'ऋ': "ri", 'ए': "e", 'ऐ': "ai", 'ओ': "o", 'औ': "au", 'ऑ': "o", 'ऍ': "e",
	'ा': "a", 'ि': "i", 'ी': "i", 'ु': "u", 'ू': "u", 'ृ': "ri", 'े': "e", 'ै': "ai", 'ो': "o", 'ौ': "au", 'ॉ': "o", 'ॅ': "e",
	'ः': "",
}

// romanise appends a word of Devanagari in Latin letters to out, and reports whether all of it was Devanagari. A
// consonant's inherent vowel is pronounced before another letter and silent at the end (राम is Ram). In the middle of a
// word it may also be silent. The comparison of sound keys tolerates the additional vowel (रामचन्द्र becomes
// ramachandr, like Ramchandra).
func romanise(out []byte, word string) ([]byte, bool) {
	open := false // a consonant waits for its vowel
	for _, r := range word {
		if c, ok := devanagariConsonants[r]; ok {
			if open {
				out = append(out, 'a')
			}
			out, open = append(out, c...), true
			continue
		}
		v, vowel := devanagariVowels[r]
		switch {
		case vowel:
			if open && r >= 'अ' && r <= 'औ' {
				out = append(out, 'a') // a full vowel after an open consonant: रई
			}
			out = append(out, v...)
		case r == virama:
		case r == nukta: // ड़ ढ़ are pronounced and written r: Rathor, Garhwal
			if n := len(out); n > 1 && out[n-1] == 'h' {
				out = append(out[:n-2], 'r', 'h')
			} else if n > 0 {
				out[n-1] = 'r'
			}
			continue
		case r == anusvara:
			if open {
				out = append(out, 'a')
			}
			out = append(out, 'n')
		default:
			return out, false
		}
		open = false
	}
	return out, true
}
