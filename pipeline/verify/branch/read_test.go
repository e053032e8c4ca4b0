package branch

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"vayu/pipeline/verify/ifsc"
)

// FuzzRead checks that every file yields storable rows with unique codes, and that each lost
// row has a reason.
func FuzzRead(f *testing.F) {
	for _, text := range []string{
		"BANK,IFSC,BRANCH,ADDRESS,CITY1,CITY2,STATE\nSBI,SBIN0000001,Main,\"a\nb\",x,y,z\n",
		"\ufeffifsc code,branch name\nsbin0000001,\"open\nSBIN0000002,b\n\n",
		"IFSC,BRANCH\nSBIN0000001,a\nSBIN0000001,b\nSBIN0000001,a\n",
		"IFSC;BRANCH\n", "", "\xff\xfe", "\"", "IFSC,BRANCH\n\"\"\"\n\r\r\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, s, err := read(bytes.NewReader(text))
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, one := range rows {
			code := one[ifscColumn]
			if again, ok := ifsc.Parse(code); !ok || again != code {
				t.Errorf("Parse(%q) = %q, %v, want the same", code, again, ok)
			}
			if seen[code] {
				t.Errorf("the code %q occurs twice", code)
			}
			seen[code] = true
			for _, cell := range one {
				if !utf8.ValidString(cell) || len(cell) > longest || strings.ContainsAny(cell, "\x00\n") {
					t.Errorf("the cell %q cannot be stored", cell)
				}
			}
		}
		refused := 0
		for _, r := range s.Rejected {
			refused += r.Rows
			if len(r.Lines) == 0 || len(r.Lines) > FirstLines || r.Lines[0] < 2 {
				t.Errorf("%q has the lines %v", r.Reason, r.Lines)
			}
		}
		if s.Read < len(rows)+refused {
			t.Errorf("%d rows were read, %d taken and %d refused", s.Read, len(rows), refused)
		}
		if lines := bytes.Count(text, []byte{'\n'}) + 1; s.Read > lines {
			t.Errorf("%d rows in %d lines", s.Read, lines)
		}
	})
}
