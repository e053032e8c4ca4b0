package console

import (
	"strings"
	"testing"
)

func TestOneLineKeepsStrings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"SELECT 'a  b';":                 "SELECT 'a  b';",
		"SELECT 'a  b',\n  2;":           "SELECT 'a  b',   2;",
		"SELECT 1 -- one\n + 2;":         "",
		"SELECT 1 + 2; -- three":         "SELECT 1 + 2; -- three",
		"SELECT 1 -- sent by a line\n":   "SELECT 1 -- sent by a line",
		"SELECT 'a\nb';":                 "",
		"SELECT 'a\\'\nb';":              "",
		"SELECT 1\n":                     "SELECT 1",
		"SELECT 'https://x', 2 # two\n;": "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			if got := oneLine(strings.Split(text, "\n")); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
