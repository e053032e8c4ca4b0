package alert

import (
	"os"
	"strings"
	"testing"

	"vayu/schema/advice"
)

// The page for native readers has the present messages of each language.
func TestMessagesAreDocumented(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, language := range advice.Languages {
		t.Run(string(language), func(t *testing.T) {
			t.Parallel()
			row := "| `" + string(language) + "` |"
			for _, hours := range [][]int{{312}, {312, 250}} {
				f := defined(t, `{"place":{"name":"Delhi"},"condition":{"metric":"aqi","over":300},"language":"`+string(language)+`"}`)
				f.hours(hours...)
				row += " " + f.message + " |"
			}
			if !strings.Contains(string(page), row) {
				t.Errorf("docs/languages.md lacks the row %s", row)
			}
		})
	}
}
