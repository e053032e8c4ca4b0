package schema_test

import (
	"math"
	"testing"

	"vayu/schema"
)

func TestFigureIsADecimalNumber(t *testing.T) {
	t.Parallel()
	for f, want := range map[schema.Figure]string{
		0: "0", 1: "0.01", 10: "0.1", 1235: "12.35", 10000: "100", -150: "-1.5", math.MaxInt32: "21474836.47", schema.Unknown: "null",
	} {
		if got := string(f.Append(nil)); got != want {
			t.Errorf("%d hundredths are %s, want %s", int32(f), got, want)
		}
	}
}
