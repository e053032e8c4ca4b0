package advice_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// script is the script of each language.
var script = map[advice.Language]*unicode.RangeTable{
	"en": unicode.Latin, "hi": unicode.Devanagari, "bn": unicode.Bengali, "gu": unicode.Gujarati, "kn": unicode.Kannada, "ml": unicode.Malayalam,
	"mr": unicode.Devanagari, "pa": unicode.Gurmukhi, "ta": unicode.Tamil, "te": unicode.Telugu,
}

// masks are the only words in Latin letters.
var masks = strings.NewReplacer("N95", "", "N99", "")

// written reports whether all letters of a text, at least one, are in the script of a language.
func written(text string, language advice.Language) bool {
	letters := 0
	for _, r := range masks.Replace(text) {
		if !unicode.IsLetter(r) {
			continue
		}
		if letters++; !unicode.Is(script[language], r) {
			return false
		}
	}
	return letters > 0
}

// Each category has every text in each language.
func TestAdviceIsComplete(t *testing.T) {
	t.Parallel()
	for _, category := range naqi.Categories() {
		for _, language := range advice.Languages {
			t.Run(category+" "+string(language), func(t *testing.T) {
				t.Parallel()
				a, ok := advice.Of(category, language)
				if !ok {
					t.Fatal("there is no advice")
				}
				var groups []string
				all := []string{a.Name, a.Statement, a.General}
				for _, g := range a.Groups {
					groups = append(groups, g.Group)
					all = append(all, g.Name, g.Text)
				}
				if diff := cmp.Diff(advice.Groups(), groups); diff != "" {
					t.Errorf("groups (-want +got):\n%s", diff)
				}
				for _, text := range all {
					if !written(text, language) {
						t.Errorf("the text %q is not in the script of the language %s", text, language)
					}
				}
			})
		}
	}
}

// Each language has its own texts: they differ from those of all others, except for words that Hindi and Marathi share.
func TestLanguagesDiffer(t *testing.T) {
	t.Parallel()
	seen := map[string]advice.Language{}
	shared := 0
	for _, language := range advice.Languages {
		for _, category := range naqi.Categories() {
			a, _ := advice.Of(category, language)
			texts := []string{a.Name, a.Statement, a.General}
			for _, g := range a.Groups {
				texts = append(texts, g.Text)
			}
			for _, text := range texts {
				if other, ok := seen[text]; ok && other != language {
					if shared++; language != "mr" || other != advice.Hindi || strings.Contains(text, " ") {
						t.Errorf("%s and %s have the same text %q", other, language, text)
					}
				}
				seen[text] = language
			}
		}
	}
	if shared > 2 { // मध्यम and गंभीर
		t.Errorf("%d texts are the same in two languages", shared)
	}
}

// A translation has the figures of the English text: hours, and kinds of masks.
func TestTranslationsHaveTheSameFigures(t *testing.T) {
	t.Parallel()
	figures := func(a *advice.Advice) (all []string) {
		texts := []string{a.General}
		for _, g := range a.Groups {
			texts = append(texts, g.Text)
		}
		for _, text := range texts {
			found := regexp.MustCompile(`[0-9]+`).FindAllString(text, -1)
			slices.Sort(found)
			all = append(all, strings.Join(found, " "))
		}
		return all
	}
	for _, category := range naqi.Categories() {
		en, _ := advice.Of(category, advice.English)
		for _, language := range advice.Languages {
			a, _ := advice.Of(category, language)
			if diff := cmp.Diff(figures(&en), figures(&a)); diff != "" {
				t.Errorf("%s in %s (-want +got):\n%s", category, language, diff)
			}
		}
	}
}

func TestNearestLanguage(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]advice.Language{
		"": "en", "*": "en", "ta": "ta", "ta-IN": "ta", "TA-in": "ta", "ta_IN": "ta", "mr-Deva-IN": "mr", "pa-Guru": "pa", "en-GB,en;q=0.9": "en",
		"fr, te;q=0.5": "te", "fr": "en", "zh-CN,zh;q=0.9": "en", "ta;q=0.3, bn;q=0.9": "bn", "ta;q=0, kn": "kn", "ta;q=0": "en",
		"!!, gu;q=0.2": "gu", "ml;q=oops, hi": "hi", ";;;,,,": "en", "\x00\xff": "en", strings.Repeat("x-", 5000): "en", "ta" + strings.Repeat(",ta", 5000): "en",
		"bn-BD": "bn", "hi-IN,hi;q=0.9,en-US;q=0.8": "hi",
	} {
		t.Run(accept[:min(len(accept), 40)], func(t *testing.T) {
			t.Parallel()
			if got := advice.Nearest(accept); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// Whatever a client sends, there is a language.
func FuzzNearest(f *testing.F) {
	for _, accept := range []string{"ta-IN, en;q=0.5", "*;q=0.1", "i-klingon", "ta;q=1.5", "\xff"} {
		f.Add(accept)
	}
	f.Fuzz(func(t *testing.T, accept string) {
		if got := advice.Nearest(accept); !got.Known() {
			t.Errorf("%q gives the language %q", accept, got)
		}
	})
}

// The page for native readers has the present names of the categories.
func TestNamesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range advice.Languages[1:] {
		row := "| `" + string(language) + "` |"
		for _, category := range naqi.Categories() {
			a, _ := advice.Of(category, language)
			row += " " + a.Name + " |"
		}
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/languages.md lacks the row %s", row)
		}
	}
}

// The English statements are those of the detailed view of GET /v1/aqi.
func TestStatementsAreThoseOfCPCB(t *testing.T) {
	t.Parallel()
	for _, category := range naqi.Categories() {
		a, _ := advice.Of(category, advice.English)
		if got, want := a.Statement, naqi.Health(category); got != want {
			t.Errorf("%s: got %q, want %q", category, got, want)
		}
	}
}

func TestSourcesAreNamed(t *testing.T) {
	t.Parallel()
	known := map[string]bool{}
	for _, s := range advice.Sources() {
		known[s.ID] = s.Publisher != "" && s.Title != "" && s.Year > 0
	}
	a, _ := advice.Of("Poor", advice.English)
	for _, id := range append(a.StatementSources, a.AdviceSources...) {
		if !known[id] {
			t.Errorf("source %q is not described", id)
		}
	}
}

func TestUnknownCategory(t *testing.T) {
	t.Parallel()
	for _, of := range [][2]string{{"Terrible", "en"}, {"Poor", "fr"}, {"", ""}} {
		if a, ok := advice.Of(of[0], advice.Language(of[1])); ok {
			t.Errorf("%v: got %v, want none", of, a)
		}
	}
}
