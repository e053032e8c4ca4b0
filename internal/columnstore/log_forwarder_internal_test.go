package columnstore

import (
	"strings"
	"testing"

	"vayu/internal/testing/fixture"
)

// A line that is longer than the buffer is logged in pieces, without a lost byte.
func TestLongLinesOfTheEngineAreLoggedInPieces(t *testing.T) {
	t.Parallel()
	var log fixture.Log
	f := logForwarder{log: log.Logger()}
	long := strings.Repeat("x", maxLine-1) + "y"
	for _, part := range []string{long[:10], long[10:], "z\nlast\n"} {
		if n, err := f.Write([]byte(part)); n != len(part) || err != nil {
			t.Fatalf("got %d, %v", n, err)
		}
	}
	for _, want := range []string{"xy", "line=z", "line=last"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log does not have %q", want)
		}
	}
}
