package upi

import (
	"strings"
	"testing"
)

// TestHandlesAreOfOneBank checks that every handle of the table is valid and unique.
func TestHandlesAreOfOneBank(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.Lines(handlesCSV) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		bank, all, ok := strings.Cut(strings.TrimSpace(line), ",")
		if !ok || bank == "" || all == "" {
			t.Errorf("%q has the bank %q and the handles %q (comma: %v), want both", line, bank, all, ok)
		}
		for handle := range strings.FieldsSeq(all) {
			n++
			if vpa, ok := Parse("ab@" + handle); !ok || vpa != "ab@"+handle {
				t.Errorf("Parse(%q) = %q, %v, want the same", "ab@"+handle, vpa, ok)
			}
			if got, _ := Bank("ab@" + handle); got != bank {
				t.Errorf("%q is of %q, and of %q", handle, bank, got)
			}
		}
	}
	if n != len(handles()) || n < 80 {
		t.Errorf("the table has %d handles, %d of them different; want 80 at least, each once", n, len(handles()))
	}
}
