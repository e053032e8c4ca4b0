package schema_test

import (
	"testing"

	"vayu/schema"
)

func TestMaskNumberLeavesTheLastFour(t *testing.T) {
	t.Parallel()
	for number, want := range map[string]string{
		"9876543210": "XXXXXX3210", "12345678": "XXXX5678", "001122334455667788": "XXXXXXXXXXXXXX7788",
		"XXXXXX3210": "XXXXXX3210", "1234567": "XXXXXXX", "12": "XX", "": "", "नमस्ते98": "XXXX" + string([]rune("नमस्ते98")[4:]),
	} {
		if got := schema.MaskNumber(number); got != want {
			t.Errorf("MaskNumber(%q): got %q, want %q", number, got, want)
		}
	}
}
