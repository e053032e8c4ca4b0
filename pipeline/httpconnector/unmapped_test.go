package httpconnector

import (
	"errors"
	"strings"
	"testing"

	"vayu/internal/testing/fixture"
)

// The error quotes the unmapped value, on one line of limited length.
func TestUnmappedValueIsQuoted(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]string{
		`"ACCEPTED"`: `"ACCEPTED"`, `7`: `"7"`, `true`: `"true"`, `"ठीक है"`: `"ठीक है"`, `"done "`: `"done "`, `"a\"b"`: `"a\"b"`,
		`"a\n\u0000\u001b[31m\u202eb\u2028"`:  `"a\ufffd\ufffd\ufffd[31m\ufffdb\ufffd"`,
		`"` + strings.Repeat("é", 40) + `"`:   `"` + strings.Repeat("é", 40) + `"`,
		`"` + strings.Repeat("é", 41) + `"`:   `"` + strings.Repeat("é", 39) + `…"`,
		`"` + strings.Repeat("x", 9999) + `"`: `"` + strings.Repeat("x", 39) + `…"`,
	} {
		want = strings.ReplaceAll(want, `\ufffd`, "\ufffd")
		client := open(t, simple, replyServer(t, 200, `{"status":`+word+`}`), Options{})
		_, err := client.Call(t.Context(), "order", values)
		if err == nil || !strings.HasSuffix(err.Error(), "the answer has "+want+" as status, which the description does not map") {
			t.Errorf("%.60s: got %v, want %s in it", word, err, want)
		}
	}
}

// A failed call is one debug line, with the provider's text.
func TestFailedCallIsLoggedAtDebug(t *testing.T) {
	t.Parallel()
	var out fixture.Log
	client := open(t, simple, replyServer(t, 400, `{"error":"their text"}`), Options{Log: out.Logger()})
	if _, err := client.Call(t.Context(), "order", values); err == nil {
		t.Fatal("it is understood")
	}
	switch text := out.String(); {
	case out.Count("\n") != 1:
		t.Errorf("out.Count(\"\\n\") = %v, want 1", out.Count("\n"))
	case !strings.Contains(text, "level=DEBUG"):
		t.Errorf("text = %q, want %q in it", text, "level=DEBUG")
	case !strings.Contains(text, "their text"):
		t.Errorf("text = %q, want %q in it", text, "their text")
	case !strings.Contains(text, "status 400"):
		t.Errorf("text = %q, want %q in it", text, "status 400")
	}
}

// The identifier may be anywhere in a request, and must not be empty.
func TestRequestIdentifiesItsSubject(t *testing.T) {
	t.Parallel()
	text := func(call string) string {
		before, _, _ := strings.Cut(simple, "  ask:")
		return before + "  list: {path: /list, items: a, answer: {price: p}}\n  ask:\n    answer: {status: status}\n" + call
	}
	for call, want := range map[string]bool{
		"    path: /{reference}":                                    true,
		"    path: /a\n    query: {a: \"x-{theirs?}\"}":             true,
		"    path: /a\n    headers: {X-A: \"{theirs}\"}":            true,
		"    path: /a\n    body: {a: [{b: \"no {reference}\"}]}":    true,
		"    path: /a\n    form: true\n    body: {a: \"{theirs}\"}": true,
		"    path: /a":      false,
		"    path: /{note}": false,
		"    path: /a\n    body: {reference: \"{{reference}}\"}": false,
	} {
		_, err := parse(strings.Replace(text(call), "URL", "https://shop.example", 1))
		if (err == nil) != want || err != nil && !strings.Contains(err.Error(), "calls.ask: has no {reference} and no {theirs} in path") {
			t.Errorf("%s:\ngot %v, want it to be taken: %v", call, err, want)
		}
	}
	client := open(t, text("    path: /a\n    query: {a: \"{theirs}\"}"), replyServer(t, 200, `{"status":"done"}`), Options{})
	for theirs, sent := range map[string]bool{"t1": true, "": false} {
		_, err := client.Call(t.Context(), "ask", map[string]any{"reference": "r1", "theirs": theirs, "note": ""})
		if (err == nil) != sent || !sent && !errors.Is(err, ErrNotSent) {
			t.Errorf("named %q: got %v, want it to be sent: %v", theirs, err, sent)
		}
	}
}
