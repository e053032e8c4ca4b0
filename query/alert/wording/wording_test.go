package wording_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"vayu/query/alert/wording"
	"vayu/schema/advice"
	"vayu/schema/air"
)

var scripts = map[advice.Language]*unicode.RangeTable{
	"en": unicode.Latin, "hi": unicode.Devanagari, "bn": unicode.Bengali, "gu": unicode.Gujarati, "kn": unicode.Kannada, "ml": unicode.Malayalam,
	"mr": unicode.Devanagari, "pa": unicode.Gurmukhi, "ta": unicode.Tamil, "te": unicode.Telugu,
}

var reasons = []air.AlertReason{
	air.AlertCrossed, air.AlertRecovered, air.AlertCorrected, air.AlertEdited, air.AlertPaused, air.AlertRemoved, air.AlertTest,
}

func all(p wording.Phrases) []string {
	texts := []string{p.Is, p.Unknown, p.Over, p.Under, p.Changed, p.Age, p.Forecast, p.Band, p.Air, p.AirOf, p.Alerts}
	for _, reason := range reasons {
		texts = append(texts, p.Reasons[reason])
	}
	return texts
}

var verb = regexp.MustCompile(`%(\[\d\])?s`)

// Each language has each text, in its own script, with the values of the English text.
func TestTextsAreComplete(t *testing.T) {
	t.Parallel()
	english := all(wording.Of(advice.English))
	for _, language := range advice.Languages {
		t.Run(string(language), func(t *testing.T) {
			t.Parallel()
			p := wording.Of(language)
			if len(p.Reasons) != len(reasons) {
				t.Errorf("%d reasons have a text, want %d", len(p.Reasons), len(reasons))
			}
			for i, text := range all(p) {
				if text == "" {
					t.Errorf("there is no text for %q", english[i])
				}
				if got, want := verb.FindAllString(text, -1), verb.FindAllString(english[i], -1); !slices.Equal(got, want) {
					t.Errorf("%q has the values %v, want %v", text, got, want)
				}
				for _, r := range strings.NewReplacer("AQI", "", "GRAP", "").Replace(verb.ReplaceAllString(text, "")) {
					if unicode.IsLetter(r) && !unicode.Is(scripts[language], r) {
						t.Errorf("%q is not in the script of the language", text)
						break
					}
				}
			}
		})
	}
}

// Two languages share no text of more than a word.
func TestTextsDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]advice.Language{}
	for _, language := range advice.Languages {
		p := wording.Of(language)
		for _, text := range []string{p.Unknown, p.Over, p.Under, p.Age, p.Forecast, p.Air, p.Alerts, p.Reasons[air.AlertRecovered], p.Reasons[air.AlertTest]} {
			if other, ok := seen[text]; ok {
				t.Errorf("%s and %s have the text %q", other, language, text)
			}
			seen[text] = language
		}
	}
}

func TestUnknownLanguageIsEnglish(t *testing.T) {
	t.Parallel()
	if got, want := wording.Of("fr").Alerts, wording.Of(advice.English).Alerts; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
