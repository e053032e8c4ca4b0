package recording

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScrubbing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"token and serial": {
			`{"token": "abc", "rows": [{"serialno": "84fce612f1d8", "v": 1.50}, {"serialno": "84fce612f1d9"}], "at": "84fce612f1d8"}`,
			`{"token": "secret-1", "rows": [{"serialno": "serial-1", "v": 1.50}, {"serialno": "serial-2"}], "at": "serial-1"}`,
		},
		"cursor stays":          {`{"next_page_token": "abcdef", "cursor_token": "x"}`, `{"next_page_token": "abcdef", "cursor_token": "x"}`},
		"numbers stay numbers":  {`{"serial_number": 1234567, "id": 1234567, "n": 12345678, "s": "1234567"}`, `{"serial_number": 1000001, "id": 1000001, "n": 12345678, "s": "1000001"}`},
		"short value elsewhere": {`{"apiKey": "ab", "name": "ab"}`, `{"apiKey": "secret-1", "name": "ab"}`},
		"pattern in a text":     {`{"note": "device 84:fc:e6:12:f1:d8 of a.person@example.org"}`, `{"note": "device serial-1 of person-1"}`},
		"list of a name":        {`{"mac": ["84FC", "85FC"]}`, `{"mac": ["serial-1", "serial-2"]}`},
		"null and true":         {`{"token": null, "secret": true, "serial": ""}`, `{"token": null, "secret": true, "serial": ""}`},
		"no JSON":               {"id,mac\n1,84:fc:e6:12:f1:d8\n", "id,mac\n1,serial-1\n"},
		"cut JSON":              {`{"mac": "84fce612f1d8", "a": [`, `{"mac": "serial-1", "a": [`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s Scrubber
			s.Learn([]byte(c.body))
			if diff := cmp.Diff(c.want, string(s.Body([]byte(c.body)))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestReplacementsAreCounted(t *testing.T) {
	t.Parallel()
	var s Scrubber
	body := []byte(`{"token": "abcdefg", "rows": [{"serial": 1}, {"serial": 2}], "again": "abcdefg"}`)
	s.Learn(body)
	s.Body(body)
	if diff := cmp.Diff(map[string]int{"token": 1, "serial": 2, "other fields": 1}, s.Replaced); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzScrubbing checks that JSON stays JSON, and that no secret remains.
func FuzzScrubbing(f *testing.F) {
	f.Add(`{"token": "abcdefgh", "a": [1, "abcdefgh", {"b": "x abcdefgh."}]}`)
	f.Add(`{"serial": 123456, "v": 123456}`)
	f.Add(`[{"mac":"\u0061"}]`)
	f.Fuzz(func(t *testing.T, text string) {
		var s Scrubber
		s.Learn([]byte(text))
		out := s.Body([]byte(text))
		if json.Valid([]byte(text)) && !json.Valid(out) {
			t.Errorf("%s became %s", text, out)
		}
		if key := []byte("k3yk3yk3y"); json.Valid([]byte(text)) && !strings.Contains(text, string(key)) {
			body := []byte(`{"token":"k3yk3yk3y","rest":` + text + `,"copy":"k3yk3yk3y"}`)
			s.Learn(body)
			if out := s.Body(body); bytes.Contains(out, key) {
				t.Errorf("the key remains in %s", out)
			}
		}
	})
}
