package schema

import (
	"strings"
	"testing"
)

func TestIsRef(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"r":                              true,
		"order-2026/11/01 #7":            true,
		"संदर्भ १":                       true,
		"क्\u200dष":                      true, // with a zero-width joiner
		"🙏":                              true,
		"👨\u200d👩\u200d👧":                true, // three, joined
		"❤️":                             true, // with a variation selector
		"\U0001f3f4\U000e0067\U000e007f": true, // a flag, with tags
		strings.Repeat("x", 255):         true,
		strings.Repeat("🙏", 255):         true,
		"":                               false,
		strings.Repeat("x", 256):         false,
		strings.Repeat("🙏", 256):         false,
		"a\nb":                           false,
		"a\rb":                           false,
		"a\tb":                           false,
		"a\x00b":                         false,
		"a\x7fb":                         false,
		"a\u0085b":                       false, // next line
		"a\u2028b":                       false, // line separator
		"a\u2029b":                       false, // paragraph separator
		"a\u202eb":                       false, // from right to left
		"\ufeffa":                        false,
		"\ue000":                         false, // private use
		"a\xffb":                         false,
	} {
		if got := IsRef(text); got != want {
			t.Errorf("IsRef(%.20q): got %v, want %v", text, got, want)
		}
	}
}
