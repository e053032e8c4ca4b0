package schema_test

import (
	"strings"
	"testing"

	"vayu/schema"
)

func TestIsID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"wh_01KAHR3M5Q7S9V1X3Z5B7D9F1H": true, "x": true, strings.Repeat("w", 64): true,
		"": false, strings.Repeat("w", 65): false, "wh-1": false, "wh_\x00": false, "wh_\xff": false, "wh_ä": false, "wh 1": false,
	} {
		if got := schema.IsID(text); got != want {
			t.Errorf("IsID(%q) is %v, want %v", text, got, want)
		}
	}
}

func TestWorldOfInvertsString(t *testing.T) {
	t.Parallel()
	for _, w := range schema.Worlds {
		if got := schema.WorldOf(w.String()); got != w {
			t.Errorf("%q means %v", w, got)
		}
	}
}
