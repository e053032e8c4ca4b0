package namematch

import (
	_ "embed" // variants.txt
	"strings"
)

// variants maps the sound of each spelling of a name to the sound of the usual spelling. Each line
// of the file has all spellings of a name, the usual one first.
var variants = variantMap(variantsText)

//go:embed variants.txt
var variantsText string

// variantMap maps the sound of each spelling in a line of the text to the sound of the first spelling in that line.
func variantMap(text string) map[string]sound {
	m := map[string]sound{}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		first := encodeSound([]byte(words[0]))
		for _, w := range words {
			k := encodeSound([]byte(w))
			m[string(k.bytes())] = first
		}
	}
	return m
}
