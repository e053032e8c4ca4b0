package namematch

import (
	_ "embed" // vocabulary.txt
	"strings"
)

// trait is a property of a word in vocabulary.txt, such as surname. A word may have several.
type trait uint16

// These are the traits that a word has by its exact spelling.
const (
	// title is the trait of a word that is never part of a name, such as Mr.
	title trait = 1 << iota
	// leading is the trait of a word that is a title only in front of the rest of the name, such as Sri.
	leading
	// shortForm is the trait of an abbreviation, such as Ltd. The abbreviation counts as the same word as its full
	// spelling, which the map `forms` has.
	shortForm
	// companyForm is the trait of a word for the legal form of a company, such as limited. If only one name lacks the
	// form, the companies can be the same. If the forms differ, so do the companies.
	companyForm
	// filler is the trait of a word that may be missing from a company's name, such as "and".
	filler
	// trade is the trait of a word that marks the name of a company, such as Traders. In such a
	// name every word must match.
	trade
	// apart is the trait of a name that sounds like another name but is separate: Sethi is not Shetty.
	apart
)

// These are the traits that a word has by its sound, whatever its spelling.
const (
	// weak is the trait of a word that occurs in very many names and barely identifies a person, such as Kumar.
	weak trait = 1 << iota
	// prefix is the trait of a word that precedes a given name and is often omitted, such as Md.
	prefix
	// surname is the trait of a common surname. A surname alone does not identify a person, and two different surnames
	// never match. A surname before the last word can be the given name only if the last word is also a surname.
	surname
	// compoundHead is the trait of a word that may have an extra "a" if a compoundTail follows: Ram Krishna is Rama
	// Krishna. Elsewhere, an extra "a" makes a different name: Anil is not Anila.
	compoundHead
	compoundTail
	// maleHead is the trait of a compoundHead that may have the "a" if a nameTail follows, too: Shiv Prasad is Shiva
	// Prasad. Without this trait, the "a" can make a woman's name: Rama Prasad is not Ram Prasad.
	maleHead
	nameTail
)

// forms maps short spellings to the full ones that count as the same word.
var forms = map[string]string{
	"&": "and", "pvt": "private", "pvtltd": "private", "ltd": "limited", "co": "company", "corp": "corporation",
	"inc": "incorporated", "bros": "brothers",
}

// bySpelling and bySound have the traits of words. Each line of vocabulary.txt has a trait and words.
var (
	bySpelling = table(func(w string) string { return w }, map[string]trait{
		"title": title, "leading": leading, "shortForm": shortForm, "companyForm": companyForm, "filler": filler, "trade": trade, "apart": apart,
	})
	bySound = table(soundText, map[string]trait{
		"weak": weak, "prefix": prefix, "surname": surname, "compoundHead": compoundHead, "compoundTail": compoundTail, "maleHead": maleHead, "nameTail": nameTail,
	})
)

//go:embed vocabulary.txt
var vocabulary string

// table maps each word of the vocabulary that has any of `traits` to those that it has. key(w) is the map key of w.
func table(key func(string) string, traits map[string]trait) map[string]trait {
	m := map[string]trait{}
	for line := range strings.Lines(vocabulary) {
		words := strings.Fields(line)
		for _, w := range words[1:] {
			if t, ok := traits[words[0]]; ok {
				m[key(w)] |= t
			}
		}
	}
	return m
}

// soundText returns the sound of a word as text. The map bySound has these texts as keys.
func soundText(w string) string {
	k := soundOf([]byte(w))
	return string(k.bytes())
}

// soundOf returns the sound of a word. If the word is a variant of a usual spelling, it returns the
// sound of that spelling.
func soundOf(w []byte) sound {
	k := encodeSound(w)
	if v, ok := variants[string(k.bytes())]; ok {
		return v
	}
	return k
}
