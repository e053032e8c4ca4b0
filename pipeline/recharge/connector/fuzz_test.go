package connector

import (
	"io/fs"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// An unmapped status is never a failure, with any file.
func FuzzFile(f *testing.F) {
	f.Add(fakeaggregator.Describe("https://aggregator.example"))
	f.Fuzz(func(t *testing.T, text string) {
		from := httpconnector.Source{
			File: "x.yaml", Text: []byte(text), Env: func(string) (string, bool) { return "", false },
			ReadFile: func(string) ([]byte, error) { return nil, fs.ErrNotExist },
		}
		var b providerCodes
		d, err := httpconnector.Parse(from, shape(), b.read)
		if err != nil {
			return
		}
		for _, name := range append(b.serves, b.operators.names...) {
			if !slices.Contains(operatorNames(), name) {
				t.Errorf("it serves %q", name)
			}
		}
		if d.ResendAfter < d.Timeout || d.Timeout <= 0 || d.Concurrency < 1 {
			t.Errorf("got %+v with %+v", d, b)
		}
	})
}

// A signed callback has a defined outcome or is an error.
func FuzzCallback(f *testing.F) {
	f.Add([]byte(`{"order_ref":"a","status":"SUCCESS","txn_id":"b","circle":"DL","code":"DOWN"}`))
	from := httpconnector.Source{File: "x.yaml", Text: []byte(fakeaggregator.Describe("https://aggregator.example"))}
	p := &provider{}
	d, err := httpconnector.Parse(from, shape(), p.read)
	if err != nil {
		f.Fatal(err)
	}
	p.client = httpconnector.New(d, httpconnector.Options{})
	now := time.Unix(1795004800, 0)
	f.Fuzz(func(t *testing.T, body []byte) {
		h := http.Header{}
		providers.Sign(h, body, now)
		callback, err := p.Receive(h, body, now)
		if err != nil {
			return
		}
		a := callback.Answer
		switch {
		case callback.Reference == "":
			t.Errorf("%q: callback.Reference is empty", body)
		case a.Outcome == order.Unknown:
			t.Errorf("%q: a.Outcome is %v, want another", body, order.Unknown)
		case a.Outcome < order.Pending:
			t.Errorf("%q: a.Outcome = %v, want at least %v", body, a.Outcome, order.Pending)
		case a.Outcome > order.Reversed:
			t.Errorf("%q: a.Outcome = %v, want at most %v", body, a.Outcome, order.Reversed)
		case (a.Outcome == order.Failed) != (a.Code != ""):
			t.Errorf("%q: the outcome is %v, and the code %q", body, a.Outcome, a.Code)
		case a.Code != "" && schema.CodeStatus[a.Code] == 0:
			t.Errorf("%q: the code is %q, which does not exist", body, a.Code)
		case strings.ContainsAny(a.ProviderRef, " \n\x00"):
			t.Errorf("%q: the reference is %q, want no spaces", body, a.ProviderRef)
		}
	})
}
