package table

import (
	"bytes"
	"slices"
	"testing"
)

// FuzzSplit checks that split returns the cells that were joined with quotes.
func FuzzSplit(f *testing.F) {
	f.Add("a", `b "quoted"`, "c,d")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		var line []byte
		want := [][]byte{[]byte(a), []byte(b), []byte(c)}
		for i, cell := range want {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(line, '"')
			line = append(line, bytes.ReplaceAll(cell, []byte(`"`), []byte(`""`))...)
			line = append(line, '"')
		}
		got, ok := Split(line, ',', nil)
		if !ok || !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("split of %q, %q, %q gave %q, %v", a, b, c, got, ok)
		}
	})
}
