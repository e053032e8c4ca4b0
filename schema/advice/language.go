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

// In these languages Vayu has other texts besides the advice, such as those of alerts.
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

// tag matches the tag of a language, which may have a script or a region. Android writes an underscore.
var tag = regexp.MustCompile(`^[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8}){0,3}$`)

// OfTag returns the language that is nearest to a tag, such as ta-IN. The default is English. It returns false for text
// that is no tag.
func OfTag(text string) (Language, bool) {
	if !tag.MatchString(text) {
		return English, false
	}
	return Nearest(text), true
}

// maxAccept limits the length of a header Accept-Language, in bytes. Browsers send less than a hundred.
const maxAccept = 1000

// Nearest returns the language that a client prefers, according to its header Accept-Language. It ignores invalid
// parts of the header. The default is English, also for a header of more than 1,000 bytes. golang.org/x/text/language
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
