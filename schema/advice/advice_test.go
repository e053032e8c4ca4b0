package advice_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// isHindi reports whether a text has letters of Devanagari.
func isHindi(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Devanagari, r) })
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
					if text == "" || isHindi(text) != (language == advice.Hindi) {
						t.Errorf("the text %q is not in the language %s", text, language)
					}
				}
			})
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
