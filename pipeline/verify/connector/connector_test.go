package connector_test

import (
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/connector"
	"vayu/schema"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	_, c := serve(t, providers.Config{}, "concurrency: 32", "concurrency: 1000", "verify:\n", "verify:\n  world: sandbox\n")
	switch {
	case c.Name != "simulator":
		t.Errorf("c.Name = %q, want \"simulator\"", c.Name)
	case c.World != schema.Sandbox:
		t.Errorf("c.World = %v, want %v", c.World, schema.Sandbox)
	case c.Timeout != 2*time.Minute:
		t.Errorf("c.Timeout = %v, want %v", c.Timeout, 2*time.Minute)
	case c.ResendAfter != 2*time.Minute:
		t.Errorf("c.ResendAfter = %v, want %v", c.ResendAfter, 2*time.Minute)
	case c.Concurrency != 1000:
		t.Errorf("c.Concurrency = %v, want 1000", c.Concurrency)
	case c.Methods != nil:
		t.Errorf("c.Methods = %v, want nil", c.Methods)
	case !c.Available():
		t.Error("c.Available() is false")
	case c.Receiver == nil:
		t.Error("c.Receiver is nil")
	}
	text := fakebank.Describe("https://bank.example")
	whole, _, _ := strings.Cut(text, "callback:")
	deposits, _, _ := strings.Cut(text, "  resolve:")
	for name, o := range map[string]struct {
		text string
		want []schema.VerificationMethod
	}{
		"all calls":              {whole, nil},
		"no call for addresses":  {deposits, []schema.VerificationMethod{schema.VerifyPennyDrop}},
		"one method of two":      {whole + "verify: {methods: upi}\n", []schema.VerificationMethod{schema.VerifyUPI}},
		"both in another order":  {whole + "verify: {methods: [upi, penny_drop]}\n", nil},
		"a list of one":          {deposits + "verify: {methods: [penny_drop]}\n", []schema.VerificationMethod{schema.VerifyPennyDrop}},
		"only a call for upi":    {onlyUPI(t, text), []schema.VerificationMethod{schema.VerifyUPI}},
		"its method is demanded": {onlyUPI(t, text) + "verify: {methods: [upi]}\n", []schema.VerificationMethod{schema.VerifyUPI}},
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, o.text, nil)
			switch diff := cmp.Diff(o.want, c.Methods); {
			case diff != "":
				t.Errorf("(-want +got):\n%s", diff)
			case c.Receiver != nil:
				t.Errorf("c.Receiver = %v, want nil", c.Receiver)
			case c.ResendAfter != 2*time.Minute:
				t.Errorf("c.ResendAfter = %v, want %v", c.ResendAfter, 2*time.Minute)
			case c.World != schema.Live:
				t.Errorf("c.World = %v, want %v", c.World, schema.Live)
			}
		})
	}
}

// onlyUPI is a description without the calls of deposits.
func onlyUPI(t *testing.T, text string) string {
	t.Helper()
	before, rest, ok := strings.Cut(text, "  deposit:")
	_, rest, ok2 := strings.Cut(rest, "  resolve:")
	rest, _, ok3 := strings.Cut(rest, "callback:")
	switch {
	case !ok:
		t.Fatal("the description of the simulator looks otherwise")
	case !ok2:
		t.Fatal("the description of the simulator looks otherwise: ok2 is false")
	case !ok3:
		t.Fatal("the description of the simulator looks otherwise: ok3 is false")
	}
	return before + "  resolve:" + rest
}

// Two files share one registry and give separate connections.
func TestSeveralFilesShareMetrics(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	metrics := httpconnector.NewMetrics(reg)
	for _, name := range []string{"first", "second"} {
		file := write(t, strings.Replace(fakebank.Describe("http://127.0.0.1:1"), "name: simulator", "name: "+name, 1))
		c, err := connector.Open(file, httpconnector.Options{Metrics: metrics})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Bank.Deposit(t.Context(), drop)
	}
	if counted := fixture.MetricValue(t, reg, "vayu_provider_calls_total", "outcome", "not_connected"); counted != 2 {
		t.Errorf("%v calls are counted, want 2", counted)
	}
}

// Unmapped values are counted.
func TestUnmappedValuesAreCounted(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`{"result":"VALID","account":{"state":"LIEN"}}`))
	}))
	t.Cleanup(server.Close)
	reg := prometheus.NewRegistry()
	a, err := open(t, fakebank.Describe(server.URL), reg).Bank.Deposit(t.Context(), drop)
	wantOutcome(t, "an unmapped state", a, err, lost)
	if got := fixture.MetricValue(t, reg, "vayu_provider_calls_total", "call", "deposit", "outcome", "not_mapped"); got != 1 {
		t.Errorf("%v are counted, want 1", got)
	}
}

func TestAnswerFields(t *testing.T) {
	t.Parallel()
	shown := fakebank.Account{Name: "R. K. SHARMA", State: "DORMANT", Bank: "Bank of Simulation", Branch: "Fort", Flags: []string{"FRAUD", "ODD", "NO", "FRAUD", "STRANGE"}}
	s, c := serve(t, providers.Config{})
	s.Accounts = map[string]fakebank.Account{
		drop.Account: shown, address.VPA: shown, "missing@upi": {Missing: true}, "plain@upi": {State: "ACTIVE"},
	}
	want := bank.Account{
		Name: "R. K. SHARMA", Bank: "Bank of Simulation", Branch: "Fort", Status: schema.AccountDormant,
		Reasons: []string{bank.ReportedFraud, bank.FlaggedByBank},
	}
	for name, call := range map[string]asking{"deposit": c.Bank.Deposit, "enquire": c.Bank.Enquire} {
		if name == "enquire" {
			_, _ = c.Bank.Deposit(t.Context(), drop)
		}
		a, err := call(t.Context(), drop)
		wantOutcome(t, name, a, err, bank.Found)
		if diff := cmp.Diff(want, a.Account); diff != "" || a.UTR != "600000000001" || a.ProviderRef != "SIM00000001" {
			t.Errorf("%s: got %+v (-want +got):\n%s", name, a, diff)
		}
	}
	if diff := cmp.Diff(map[string]int{drop.Reference: 1}, s.Deposits()); diff != "" {
		t.Errorf("deposits (-want +got):\n%s", diff)
	}
	want.Branch = "" // the description does not say where it stands
	a, err := c.Bank.Resolve(t.Context(), address)
	switch diff := cmp.Diff(want, a.Account); {
	case err != nil:
		t.Errorf("an address: %v", err)
	case a.Outcome != bank.Found:
		t.Errorf("an address: a.Outcome = %v, want %v", a.Outcome, bank.Found)
	case a.UTR != "":
		t.Errorf("an address: a.UTR = %q, want none", a.UTR)
	case diff != "":
		t.Errorf("an address: (-want +got):\n%s", diff)
	}
	for vpa, want := range map[string]bank.Answer{
		"missing@upi": {Outcome: bank.NotFound},
		"plain@upi":   {Outcome: bank.Found, Account: bank.Account{Status: schema.AccountActive}}, // a bank need not say the name
	} {
		o := address
		o.VPA = vpa
		a, err := c.Bank.Resolve(t.Context(), o)
		a.ProviderRef = ""
		if diff := cmp.Diff(want, a); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", vpa, err, diff)
		}
	}
	s.Dice.Script(address.VPA, fakebank.Away)
	a, err = c.Bank.Resolve(t.Context(), address)
	wantOutcome(t, "who is away", a, err, bank.NotMade)
}

// Names are cleaned for clients, and references for our store.
func TestBankTextIsCleaned(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bank.Answer{
		`"account":{"name":"A\u0000\u0007S\u202eHA\u2066 \n RAO\ufeff","state":"ACTIVE"}`: {Account: bank.Account{Name: "ASHA RAO"}},
		`"account":{"name":"Rene\u0301","state":"ACTIVE"}`:                                {Account: bank.Account{Name: "René"}},
		`"account":{"name":"\u0915\u094d\u200d\u0937","state":"ACTIVE"}`:                  {Account: bank.Account{Name: "\u0915\u094d\u200d\u0937"}},
		`"account":{"name":"A\u200dB","state":"ACTIVE"}`:                                  {Account: bank.Account{Name: "AB"}},
		`"account":{"name":"` + strings.Repeat("é", 300) + `","state":"ACTIVE"}`:          {Account: bank.Account{Name: strings.Repeat("é", 199) + "…"}},
		`"account":{"name":["ASHA"],"bank":7,"branch":null,"state":"ACTIVE"}`:             {Account: bank.Account{Bank: "7"}},
		`"txn":"a b","utr":"6\n","account":{"state":"ACTIVE"}`:                            {},
		`"txn":123456789012345678,"utr":"SBIN526110012345","account":{"state":"ACTIVE"}`:  {ProviderRef: "123456789012345678", UTR: "SBIN526110012345"},
	} {
		want.Outcome, want.Account.Status = bank.Found, schema.AccountActive
		a, err := answering(t, 200, `{"result":"VALID",`+body+`}`).Bank.Deposit(t.Context(), drop)
		if diff := cmp.Diff(want, a); err != nil || diff != "" {
			t.Errorf("%.60s: %v (-want +got):\n%s", body, err, diff)
		}
	}
}

// A bank's reason never reaches a client. It becomes one of our codes, or FlaggedByBank.
func TestReasonsAreCodes(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string][]string{
		`["MULE","NEW"]`:             {bank.MuleAccount, bank.RecentlyOpened},
		`["watchlist: Ravi, Delhi"]`: {bank.FlaggedByBank},
		`"FRAUD"`:                    {bank.ReportedFraud},
		`["reported_fraud"]`:         {bank.FlaggedByBank}, // no word of theirs
		`"NO"`:                       nil,
		`["NO","NO"]`:                nil,
		`[]`:                         nil,
		`[null,""]`:                  nil,
		`null`:                       nil,
		`""`:                         nil,
		`true`:                       {bank.FlaggedByBank},
		`false`:                      {bank.FlaggedByBank},
		`{"code":"FRAUD"}`:           {bank.FlaggedByBank},
		`[["FRAUD"],7]`:              {bank.FlaggedByBank},
	} {
		a, err := answering(t, 200, `{"result":"VALID","account":{"state":"ACTIVE"},"flags":`+flags+`}`).Bank.Deposit(t.Context(), drop)
		if diff := cmp.Diff(want, a.Account.Reasons); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", flags, err, diff)
		}
	}
	c := answering(t, 200, `{"result":"INVALID","flags":["FRAUD"],"account":{"name":"A","state":"LIEN"}}`)
	switch a, err := c.Bank.Deposit(t.Context(), drop); {
	case err != nil:
		t.Errorf("an account that there is not: %v", err)
	case a.Outcome != bank.NotFound:
		t.Errorf("an account that there is not: a.Outcome = %v, want %v", a.Outcome, bank.NotFound)
	case a.Account.Reasons != nil:
		t.Errorf("an account that there is not: a.Account.Reasons = %v, want nil", a.Account.Reasons)
	case a.Account.Name != "":
		t.Errorf("an account that there is not: a.Account.Name = %q, want none", a.Account.Name)
	}
}

// A file may define the status of accounts without one. A reported status still needs a
// mapping.
func TestAccountStatusByDefault(t *testing.T) {
	t.Parallel()
	const place, values = "account_status:\n        path: account.state\n", "        values: {ACTIVE: active, DORMANT: dormant, FROZEN: frozen, CLOSED: closed}\n"
	for body, want := range map[string]schema.AccountStatus{
		`{"result":"VALID"}`:                                "active",
		`{"result":"VALID","account":{"state":null}}`:       "active",
		`{"result":"VALID","account":{"state":"FROZEN"}}`:   "frozen",
		`{"result":"VALID","account":{"state":"LIEN"}}`:     "",
		`{"result":"VALID","account":{"state":["FROZEN"]}}`: "",
	} {
		a, err := answering(t, 200, body, place, place+"        absent: active\n").Bank.Deposit(t.Context(), drop)
		if a.Account.Status != want || (err != nil) != (want == "") {
			t.Errorf("%s: got %+v, %v, want %q", body, a, err, want)
		}
	}
	a, err := answering(t, 200, `{"result":"VALID","account":{"state":"FROZEN"}}`, place+values, "account_status: {absent: active}\n").Bank.Deposit(t.Context(), drop)
	if err != nil || a.Account.Status != schema.AccountActive {
		t.Errorf("without a place: got %+v, %v", a, err)
	}
}

// A bank with a certificate of the configured authority is called, another is not.
func TestTLSIsRequired(t *testing.T) {
	t.Parallel()
	s := fakebank.New(providers.Config{})
	server := httptest.NewUnstartedServer(s)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	a, err := open(t, fakebank.Describe(server.URL), nil).Bank.Deposit(t.Context(), drop)
	if !errors.Is(err, httpconnector.ErrNotSent) {
		t.Errorf("an unknown authority: got %+v, %v", a, err)
	}
	file := write(t, strings.Replace(fakebank.Describe(server.URL), "timeout: 5s", "timeout: 5s\nca-file: ca.pem", 1))
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(filepath.Dir(file), "ca.pem"), ca, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := connector.Open(file, httpconnector.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err = c.Bank.Deposit(t.Context(), drop)
	wantOutcome(t, "its own authority", a, err, bank.Found)
}
