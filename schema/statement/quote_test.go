package statement_test

import (
	"testing"

	"vayu/schema/statement"
)

func TestQuote(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ got, want string }{
		"text":           {statement.Quote("Delhi"), `'Delhi'`},
		"quote":          {statement.Quote("O'Neil"), `'O\'Neil'`},
		"backslash":      {statement.Quote(`a\'b`), `'a\\\'b'`},
		"texts":          {statement.QuoteAll([]string{"a", "b'"}), `'a', 'b\''`},
		"no texts":       {statement.QuoteAll(nil), ""},
		"name":           {statement.QuoteName("reading"), "`reading`"},
		"two parts":      {statement.QuoteName("vayu", "reading"), "`vayu`.`reading`"},
		"backtick":       {statement.QuoteName("a`b"), "`a\\`b`"},
		"backslash name": {statement.QuoteName(`a\`), "`a\\\\`"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", name, c.got, c.want)
		}
	}
}
