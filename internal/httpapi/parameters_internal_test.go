package httpapi

import (
	"net/url"
	"testing"
)

// No query causes a panic, and only allowed parameters are returned, once and not empty.
func FuzzParameters(f *testing.F) {
	for _, raw := range []string{"", "from=a&limit=2", "from=a&from=b", "from=", "frm=a", "%zz=1", "from=%zz", "\xff=1", "from=a;limit=2"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		params, err := parameters(raw, []string{"from", "limit"})
		if err != nil {
			return
		}
		want, parseErr := url.ParseQuery(raw)
		if parseErr != nil { // only for a semicolon, which is an ordinary character here
			return
		}
		for name, values := range want {
			switch {
			case len(values) != 1:
				t.Errorf("%q: len(values) = %v, want 1", raw, len(values))
			case values[0] == "":
				t.Errorf("%q: values[0] is empty", raw)
			case params[name] != values[0]:
				t.Errorf("%q: params[name] = %v, want %v", raw, params[name], values[0])
			case name != "from" && name != "limit":
				t.Errorf("%q is taken as %v", raw, params)
			}
		}
	})
}
