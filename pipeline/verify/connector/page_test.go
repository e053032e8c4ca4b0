package connector_test

import (
	"encoding/pem"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/testing/providers"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/connector"
)

const page = "../../../docs/banks.md"

// The documented bank works with its documented file.
func TestDocumentedBank(t *testing.T) {
	_, js := providers.Blocks(t, page, "js")
	_, yaml := providers.Blocks(t, page, "yaml")
	if len(js) != 1 || len(yaml) != 2 {
		t.Fatalf("the page has %d programs and %d files", len(js), len(yaml))
	}
	if lines := strings.Count(js[0], "\n"); lines > 45 {
		t.Errorf("the bank has %d lines", lines)
	}
	t.Setenv("ACME_KEY", "a-key-of-acme")
	url := providers.Start(t, js[0])
	here := func() bank.Connection {
		return open(t, strings.Replace(yaml[0], "http://127.0.0.1:9091", url, 1), nil)
	}
	c := here()
	known := bank.Account{Name: "ASHA RAO", Status: "active"}
	flagged := bank.Account{Name: "ASHA RAO", Status: "dormant", Reasons: []string{bank.MuleAccount}}
	for account, want := range map[string]bank.Answer{
		"123456780": {Outcome: bank.Found, Account: known},
		"123456782": {Outcome: bank.Pending},
		"123456784": {Outcome: bank.NotFound},
		"123456786": {Outcome: bank.Found, Account: flagged},
	} {
		o := drop
		o.Reference, o.Account, o.CreatedAt = "ver_"+account, account, time.Now()
		if a, err := c.Bank.Enquire(t.Context(), o); err != nil || a.Outcome != bank.Unknown {
			t.Errorf("%s before it was asked for: got %v, %v", account, a, err)
		}
		first, err := c.Bank.Deposit(t.Context(), o)
		if err != nil || (first.UTR != "") != (want.Outcome == bank.Found) {
			t.Errorf("%s: got %+v, %v", account, first, err)
		}
		want.UTR = first.UTR
		for name, call := range map[string]asking{"again": c.Bank.Deposit, "enquiry": c.Bank.Enquire} {
			a, err := call(t.Context(), o)
			if diff := cmp.Diff(want, a); err != nil || diff != "" {
				t.Errorf("%s, %s: %v (-want +got):\n%s", account, name, err, diff)
			}
		}
	}
	for vpa, want := range map[string]bank.Answer{
		"asha.rao@upi": {Outcome: bank.Found, Account: known}, "nobody@upi": {Outcome: bank.NotFound},
	} {
		o := address
		o.VPA = vpa
		a, err := c.Bank.Resolve(t.Context(), o)
		if diff := cmp.Diff(want, a); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", vpa, err, diff)
		}
	}
	t.Setenv("ACME_KEY", "another")
	a, err := here().Bank.Deposit(t.Context(), drop)
	wantOutcome(t, "with another key", a, err, lost)
}

// The documented file with every key is valid.
func TestDocumentedFile(t *testing.T) {
	t.Setenv("BHARAT_PASSWORD", "c")
	t.Setenv("BHARAT_SECRET", "0123456789")
	_, yaml := providers.Blocks(t, page, "yaml")
	file := write(t, yaml[1])
	server := httptest.NewTLSServer(nil)
	defer server.Close()
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "bharat-ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connector.Open(file, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case c.Name != "bharat-bank":
		t.Errorf("c.Name = %q, want \"bharat-bank\"", c.Name)
	case c.Methods != nil:
		t.Errorf("c.Methods = %v, want nil", c.Methods)
	case c.Receiver == nil:
		t.Error("c.Receiver is nil")
	case c.Concurrency != 500:
		t.Errorf("c.Concurrency = %v, want 500", c.Concurrency)
	}
}

// The page documents every key, field, status and reason. The faults of an unknown file list
// them.
func TestDocumentationIsComplete(t *testing.T) {
	t.Parallel()
	text, _ := providers.Blocks(t, page, "yaml")
	const strange = `
x: 1
auth: {x: 1, header: {x: 1}, basic: {x: 1}, hmac: {x: 1, over: "{x}"}}
breaker: {x: 1}
calls:
  x: 1
  deposit: {x: 1, path: "/{x}", by-http: {404: {x: 1}}, answer: {x: 1, status: {x: 1, values: {x: x}}, account_status: {x: 1, values: {x: x}}, reasons: {values: {x: x}}}}
  enquire: {path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
  resolve: {path: "/{x}", answer: {x: 1, status: {path: x, values: {x: x}}}}
callback: {x: 1, signature: {x: 1}, answer: {x: 1}}
verify: {x: 1, methods: x, world: x}
`
	for _, word := range providers.MissingKeys(t, text, connector.Check(write(t, strange)), 60) {
		t.Errorf("%q is not on the page", word)
	}
}
