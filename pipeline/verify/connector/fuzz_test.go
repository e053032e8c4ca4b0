package connector

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

// No file is accepted without the calls that its methods need.
func FuzzFile(f *testing.F) {
	f.Add(fakebank.Describe("https://bank.example"))
	f.Add(fakebank.Describe("https://bank.example") + "  methods: [upi]\n")
	f.Fuzz(func(t *testing.T, text string) {
		from := httpconnector.Source{
			File: "x.yaml", Text: []byte(text), Env: func(string) (string, bool) { return "", false },
			ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		}
		var b provider
		d, err := httpconnector.Parse(from, shape(), b.read)
		if err != nil {
			return
		}
		serves := b.methods
		if serves == nil {
			serves = allMethods
		}
		for _, m := range serves {
			if requiredCalls[m] == nil || slices.ContainsFunc(requiredCalls[m], func(call string) bool { return !d.HasCall(call) }) {
				t.Errorf("it serves %q with %+v", m, d)
			}
		}
		if d.ResendAfter < d.Timeout || d.Timeout <= 0 || d.Concurrency < 1 {
			t.Errorf("got %+v with %+v", d, b)
		}
	})
}

// A signed callback is an outcome or an error. Its texts cannot affect the text around them.
func FuzzCallback(f *testing.F) {
	f.Add([]byte(`{"ref":"a","result":"VALID","txn":"b","utr":"1","account":{"name":"A\u202e","state":"ACTIVE","bank":"B","branch":"C"},"flags":["FRAUD","x"]}`))
	from := httpconnector.Source{File: "x.yaml", Text: []byte(fakebank.Describe("https://bank.example"))}
	b := &provider{}
	d, err := httpconnector.Parse(from, shape(), b.read)
	if err != nil {
		f.Fatal(err)
	}
	b.client = httpconnector.New(d, httpconnector.Options{})
	now := time.Unix(1795004800, 0)
	f.Fuzz(func(t *testing.T, body []byte) {
		h := http.Header{}
		providers.Sign(h, body, now)
		callback, err := b.Receive(h, body, now)
		if err != nil {
			return
		}
		a := callback.Answer
		switch {
		case callback.Reference == "":
			t.Errorf("%q: callback.Reference is empty", body)
		case a.Outcome == bank.Unknown:
			t.Errorf("%q: a.Outcome is %v, want another", body, bank.Unknown)
		case a.Outcome < bank.Pending:
			t.Errorf("%q: a.Outcome = %v, want at least %v", body, a.Outcome, bank.Pending)
		case a.Outcome > bank.NotMade:
			t.Errorf("%q: a.Outcome = %v, want at most %v", body, a.Outcome, bank.NotMade)
		case (a.Outcome == bank.Found) != slices.Contains(schema.AccountStatuses, a.Account.Status):
			t.Errorf("%q: the outcome is %v, and the status of the account %q", body, a.Outcome, a.Account.Status)
		case strings.ContainsAny(a.ProviderRef+a.UTR, " \n\x00"):
			t.Errorf("%q: the references are %q and %q, want no spaces", body, a.ProviderRef, a.UTR)
		}
		for _, code := range a.Account.Reasons {
			if !slices.Contains(bank.Reasons, code) {
				t.Errorf("%q has the reason %q", body, code)
			}
		}
		for _, text := range []string{a.Account.Name, a.Account.Bank, a.Account.Branch} {
			if utf8.RuneCountInString(text) > mostText || strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) || unicode.IsControl(r) }) {
				t.Errorf("%q has the text %q", body, text)
			}
		}
	})
}
