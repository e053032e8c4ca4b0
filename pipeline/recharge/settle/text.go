package settle

import (
	"strings"
	"unicode/utf8"
)

// longestProviderText bounds the stored texts of a provider, in bytes.
const longestProviderText = 100

// CleanText removes the control characters below U+0020 and invalid UTF-8 from a provider's
// text, and truncates the text to longestProviderText.
func CleanText(text string) string {
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError {
			return -1
		}
		return r
	}, text)
	return strings.ToValidUTF8(text[:min(len(text), longestProviderText)], "")
}
