package mediatype_test

import (
	"testing"

	"vayu/internal/httpapi/mediatype"
)

func TestAllowsJSON(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": true, " ": true, ", ,": true, "*/*": true, "application/*": true, "Application/JSON; charset=utf-8": true,
		"text/html, application/json;q=0.001": true, "text/html, */*;q=0.8": true, "application/json, */*;q=0": true,
		"text/html": false, "application/json-seq": false, "application/json;q=0": false, "application/json; Q = 0.000": false,
		"application/*;level=1;q=0, */*": false, "*/*;q=0": false, "application/json;q=0, application/*": false,
	} {
		if got := mediatype.AllowsJSON([]string{accept}); got != want {
			t.Errorf("AllowsJSON(%q) = %t, want %t", accept, got, want)
		}
	}
	if !mediatype.AllowsJSON([]string{"text/html", "application/json"}) {
		t.Error("the second header is ignored")
	}
}

func TestWanted(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"text/csv": true, "text/html, TEXT/CSV;q=0.1": true, "text/csv;header=present": true,
		"*/*": false, "text/*": false, "text/csv;q=0": false, "text/csvx": false, "": false,
	} {
		if got := mediatype.Wanted([]string{accept}, "text/csv"); got != want {
			t.Errorf("Wanted(%q) = %t, want %t", accept, got, want)
		}
	}
}
