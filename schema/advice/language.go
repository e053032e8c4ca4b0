package advice

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/text/language"
)

// Language is a language of the advice: its ISO 639-1 code.
type Language string

// English is the default language. Names of cities are translated into Hindi only.
const (
	English Language = "en"
	Hindi   Language = "hi"
)

// Languages lists all languages. The first is the default.
var Languages = [...]Language{English, Hindi, "bn", "gu", "kn", "ml", "mr", "pa", "ta", "te"}

// Known reports whether the advice is available in the language.
func (l Language) Known() bool { return slices.Contains(Languages[:], l) }

var matcher = sync.OnceValue(func() language.Matcher {
	tags := make([]language.Tag, len(Languages))
	for i, l := range Languages {
		tags[i] = language.MustParse(string(l))
	}
	return language.NewMatcher(tags)
})

// tag matches the tag of a language, with or without a script and a region: "ta-IN", or "ta_IN" as Android writes it.
var tag = regexp.MustCompile(`^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$`)

// OfTag returns the language of the advice that is nearest to a tag, such as ta-IN. The default is English. OfTag
// returns English and false for a text that is not a language tag.
func OfTag(text string) (Language, bool) {
	if !tag.MatchString(text) {
		return English, false
	}
	return Nearest(text), true
}

// maxAccept limits the length of a header Accept-Language, in bytes. Browsers send less than a hundred.
const maxAccept = 1000

// Nearest returns the language of the advice that suits a header Accept-Language best. It ignores invalid parts of the
// header. The default is English, also for a header of more than 1,000 bytes. golang.org/x/text/language
// compares tags by the rules of CLDR, so ta-LK gets Tamil.
func Nearest(accept string) Language {
	if len(accept) > maxAccept {
		return English
	}
	var valid []string
	for part := range strings.SplitSeq(accept, ",") {
		if tags, _, err := language.ParseAcceptLanguage(part); err == nil && len(tags) > 0 {
			valid = append(valid, part)
		}
	}
	tags, _, err := language.ParseAcceptLanguage(strings.Join(valid, ","))
	if err != nil {
		return English
	}
	_, i, _ := matcher().Match(tags...)
	return Languages[i]
}
