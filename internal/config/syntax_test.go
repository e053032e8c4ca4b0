package config_test

import (
	"strings"
	"testing"

	"vayu/internal/config"
)

// A syntax error has the line of its cause.
func TestSyntaxErrorHasItsLine(t *testing.T) {
	t.Parallel()
	const head, rest = "# one\nname: shop\n", "\nurl: https://shop.example\ntimeout: 5s\n"
	for name, c := range map[string]struct {
		text string
		line string
	}{
		"a key too far left":       {head + "calls:\n  order:\n    path: /a\n   method: GET" + rest, "6"},
		"behind a mapping":         {head + "a: 1\nb: {reference}/orders" + rest, "4"},
		"that on the first line":   {"name: {shop} co" + rest, "1"},
		"in the root":              {"name: shop\ntimeout: 5s\nurl: {x}}" + rest, "3"},
		"no item of a list":        {head + "serves:\n  - Airtel\n  - Jio\n  Vi: 1" + rest, "6"},
		"an open brace":            {head + "a: 1\nauth: {header: {name: X, value: Y}" + rest, "4"},
		"an open bracket":          {head + "a: 1\nlist:\n  [Airtel,\n  Jio" + rest, "5"},
		"a bracket without a word": {head + "a: 1\nb: ]" + rest, "4"},
		"a key too far right":      {head + "a: 1\n  b: 2" + rest, "4"},
		"a colon in a text":        {head + "a: b: c" + rest, "3"},
		"an open quote":            {head + "a: 1\nb: \"GET" + rest, "4"},
		"a tab":                    {head + "a:\n\tb: 1" + rest, "4"},
		"a percent sign":           {head + "a: %x" + rest, "3"},
		"an escape":                {head + `a: "\q"` + rest, "3"},
		"a control character":      {head + "a: 1\nb: \x01" + rest, "4"},
		"no UTF-8":                 {head + "a: 1\nb: \xff" + rest, "4"},
		"an alias of nothing":      {head + "a: 1\nb: *c" + rest, "4"},
		"lines of Windows":         {"name: shop\r\na: {x} y\r\nb: 1\r\n", "2"},
		"after its end":            {head + "a: 1\n...\n}" + rest, "5"},
		"the last line":            {"name: shop\na: {x} y", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := config.ParseYAML("shop.yaml", []byte(c.text))
			if got := problems.Error(); !strings.Contains(got, "is not YAML: ") || !strings.HasSuffix(got, "(shop.yaml line "+c.line+")") {
				t.Errorf("got %v, want line %s", got, c.line)
			}
		})
	}
}
