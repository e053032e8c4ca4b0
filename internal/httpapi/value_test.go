package httpapi_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"vayu/internal/httpapi"
	"vayu/schema"
)

func TestNullIsNoValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"": false, "null": false, `""`: true, "0": true, "false": true, "{}": true, "[]": true} {
		if got := httpapi.HasValue(jsontext.Value(text)); got != want {
			t.Errorf("%q has a value: %v, want %v", text, got, want)
		}
	}
}

func TestTextsAreRead(t *testing.T) {
	t.Parallel()
	type reading struct {
		text  string
		ok    bool
		fault string
	}
	for value, want := range map[string]reading{
		`"a\u0928\n"`: {"aन\n", true, ""},
		`""`:          {"", true, ""},
		`1`:           {"", false, "name must be a string."},
		`["a"]`:       {"", false, "name must be a string."},
		`null`:        {"", false, "name must be a string."},
		``:            {"", false, "name must be a string."},
		`"\ud800"`:    {"", false, "The name is not valid Unicode."},
	} {
		var f schema.RequestErrors
		var got reading
		got.text, got.ok = httpapi.Text(&f, "name", jsontext.Value(value))
		for _, fault := range f {
			got.fault += fault.Message
		}
		if got != want {
			t.Errorf("%s is %+v, want %+v", value, got, want)
		}
	}
}

func TestReferencesAreRead(t *testing.T) {
	t.Parallel()
	const bad, noText = "The ref_id must have 1 to 255 characters and no control characters.", "ref_id must be a string."
	for value, want := range map[string][2]string{
		``:                                   {},
		`null`:                               {},
		`"order 1"`:                          {"order 1", ""},
		`"` + strings.Repeat("र", 255) + `"`: {strings.Repeat("र", 255), ""},
		`"` + strings.Repeat("र", 256) + `"`: {"", bad},
		`""`:                                 {"", bad},
		`"a\u0000"`:                          {"", bad},
		`7`:                                  {"", noText},
	} {
		var f schema.RequestErrors
		got := [2]string{httpapi.Ref(&f, jsontext.Value(value)), ""}
		for _, fault := range f {
			got[1] += fault.Message
			if fault.Field != "ref_id" {
				t.Errorf("%s: the fault is about %s", value, fault.Field)
			}
		}
		if got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}
