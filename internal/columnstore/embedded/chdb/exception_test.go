package chdb

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func FuzzParseException(f *testing.F) {
	f.Add("Code: 60. DB::Exception: Unknown table. (UNKNOWN_TABLE)")
	f.Add("Error: Code: 62. DB::Exception: a (b) (SYNTAX_ERROR) (version 1.2 (official build))\n")
	f.Add("Code: 99999999999. x")
	f.Fuzz(func(t *testing.T, text string) {
		if e := parseException(text); e.Code <= 0 || e.Name == "" {
			t.Errorf("%q gave %+v", text, e)
		}
	})
}

func TestParseException(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Exception{
		"Code: 60. DB::Exception: Table default.x (maybe Y) does not exist. (UNKNOWN_TABLE)": {60, "UNKNOWN_TABLE", "Table default.x (maybe Y) does not exist."},
		"Code: 1001. DB::Exception: Poco::Net: refused\nmore (STD_EXCEPTION)\n":              {1001, "STD_EXCEPTION", "Poco::Net: refused\nmore"},
		"something else":         {1002, "UNKNOWN_EXCEPTION", "something else"},
		"Code: 0. nothing wrong": {1002, "UNKNOWN_EXCEPTION", "Code: 0. nothing wrong"},
	} {
		if diff := cmp.Diff(&want, parseException(text)); diff != "" {
			t.Errorf("%q:\n%s", text, diff)
		}
	}
}
