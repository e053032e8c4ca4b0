package httpconnector

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/pipeline/httpconnector/answer"
)

// lampShape defines a provider whose state can be read.
var lampShape = Shape{Calls: map[string]CallShape{"look": {Answer: answer.Shape{
	"there":  {Required: true, Values: []string{"yes", "no"}},
	"colour": {Values: []string{"red", "green"}, Absent: []string{"green"}, RequiredWith: map[string]string{"there": "yes"}},
	"marks":  {Repeated: true, Values: []string{"old", "new", "odd"}, Defaults: []string{"old"}, Fallback: "odd"},
}}}}

func look(t *testing.T, answer, body string) (answer.Reply, error) {
	t.Helper()
	d, err := Parse(Source{File: "lamp.yaml", Text: []byte("name: lamp\nurl: https://lamp.example\ncalls: {look: {path: /x, answer: " + answer + "}}\n")}, lampShape, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d.calls["look"].answer.Read(http.StatusOK, []byte(body))
}

// A field may be required in some answers only. The description may define its value for
// answers without it. A present value is never taken for absent.
func TestRequiredWith(t *testing.T) {
	t.Parallel()
	const mapped, absent = "{there: t, colour: {path: c, values: {R: red}}}", "{there: t, colour: {path: c, values: {R: red}, absent: green}}"
	for _, c := range []struct{ answer, body, want string }{
		{mapped, `{"t":"no"}`, ""},
		{mapped, `{"t":"no","c":"X"}`, ""},
		{mapped, `{"t":"yes","c":"R"}`, "red"},
		{mapped, `{"t":"yes","c":"X"}`, `"X" as colour`},
		{mapped, `{"t":"yes"}`, "no colour"},
		{absent, `{"t":"yes"}`, "green"},
		{absent, `{"t":"yes","c":null}`, "green"},
		{absent, `{"t":"yes","c":""}`, "green"},
		{absent, `{"t":"yes","c":"R"}`, "red"},
		{absent, `{"t":"yes","c":"X"}`, `"X" as colour`},
		{absent, `{"t":"yes","c":{}}`, "no colour"},
		{absent, `{"t":"yes","c":["R"]}`, "no colour"},
		{"{there: t, colour: {absent: green}}", `{"t":"yes","c":"R"}`, "green"},
	} {
		t.Run(c.body+" read with "+c.answer, func(t *testing.T) {
			reply, err := look(t, c.answer, c.body)
			if got := reply.Fields["colour"]; err == nil && got != c.want || err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// Each repeated value is read once; an unmapped one becomes the fallback.
func TestLists(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][]string{
		`["N","N","O"]`: {"new", "old"},
		`"N"`:           {"new"},
		`["?",7,{}]`:    {"odd"},
		`{"N":1}`:       {"odd"},
		`[null,""]`:     nil,
		`[]`:            nil,
		`null`:          nil,
	} {
		reply, err := look(t, `{there: t, colour: c, marks: {path: m, values: {N: new, O: old}}}`, `{"t":"no","m":`+body+`}`)
		if diff := cmp.Diff(want, reply.Lists["marks"]); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	reply, err := look(t, `{there: t, colour: c, marks: {path: m, values: {N: new}, default: old}}`, `{"t":"no","m":["?","N"]}`)
	if diff := cmp.Diff([]string{"old", "new"}, reply.Lists["marks"]); err != nil || diff != "" {
		t.Errorf("with a default: %v (-want +got):\n%s", err, diff)
	}
}

func TestLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A \t\n B\x00\x1b[1m":                      "A B[1m",
		"A\u202eB\u2066C\u200e\u061c\ufeff\u00adD": "ABCD",
		"Rene\u0301":                               "René",
		"e\u202e\u0301":                            "é", // what is removed stands between nothing
		"\u0915\u094d\u200d\u0937\u200d\u200c":     "\u0915\u094d\u200d\u0937",
		"\u200dA\u200cB":                           "AB",
		"\xff\ufffd":                               "",
		strings.Repeat("x", 11):                    "xxxxxxxxx…",
		"":                                         "",
	} {
		if got := CleanText(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"A-1": "A-1", "a b": "", "é": "", "\x00": "", strings.Repeat("x", 100): strings.Repeat("x", 100), strings.Repeat("x", 101): "",
	} {
		if got := CleanReference(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
