package public

import (
	"fmt"
	"strings"
	"testing"

	"vayu/query/chart"
	"vayu/schema/advice"
	"vayu/schema/naqi"
)

// The widget has the colours of the charts.
func TestWidgetHasTheColoursOfCategories(t *testing.T) {
	t.Parallel()
	for _, category := range naqi.Categories() {
		last, _ := naqi.Edge(category)
		fill, ink := chart.Hex(last)
		if want := fmt.Sprintf("['%s', '%s']", fill, ink); !strings.Contains(string(script), want) {
			t.Errorf("the script lacks %s of %s", want, category)
		}
	}
}

// The widget has words of its own in each language of advice.
func TestWidgetHasEachLanguage(t *testing.T) {
	t.Parallel()
	for _, language := range advice.Languages {
		if want := "\t\t" + string(language) + ": { none: '"; !strings.Contains(string(script), want) {
			t.Errorf("the script has no words in %s", language)
		}
	}
}
