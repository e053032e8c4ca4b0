package connector_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/verify/bank"
	"vayu/pipeline/verify/connector"
	"vayu/schema"
)

// serve starts a simulator over HTTP and returns it with its connection.
func serve(t *testing.T, c providers.Config, replace ...string) (*fakebank.Simulator, bank.Connection) {
	t.Helper()
	s := fakebank.New(c)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return s, open(t, strings.NewReplacer(replace...).Replace(patient.Replace(fakebank.Describe(server.URL))), nil)
}

// patient makes calls wait as long as a description may, because the machine may be busy.
var patient = strings.NewReplacer("timeout: 5s", "timeout: 2m", "resend-after: 5s", "resend-after: 2m")

// open creates a connection from a description.
func open(t *testing.T, text string, reg prometheus.Registerer) bank.Connection {
	t.Helper()
	return providers.Connect(t, connector.Open, text, httpconnector.Options{Metrics: httpconnector.NewMetrics(reg)})
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "bank.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var (
	drop = bank.Order{
		Reference: "ver_01M7Q5CQYX0N5Z2V5YB9E1WQ3R", Method: schema.VerifyPennyDrop, Account: "000123456789", IFSC: "SBIN0000691",
		CreatedAt: time.Date(2026, 11, 18, 12, 26, 40, 0, time.UTC),
	}
	address = bank.Order{
		Reference: "ver_01M7Q5CQYX0N5Z2V5YB9E1WQ3S", Method: schema.VerifyUPI, VPA: "asha.rao@upi", CreatedAt: drop.CreatedAt,
	}
)

// answering is a connection to a bank with one constant answer.
func answering(t *testing.T, status int, body string, replace ...string) bank.Connection {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return open(t, strings.NewReplacer(replace...).Replace(patient.Replace(fakebank.Describe(server.URL))), nil)
}

// lost stands for an error that leaves the outcome open.
const lost = bank.Outcome(-1)

func wantOutcome(t *testing.T, what string, a bank.Answer, err error, want bank.Outcome) {
	t.Helper()
	switch {
	case want == lost && (err == nil || errors.Is(err, httpconnector.ErrNotSent) || errors.Is(err, httpconnector.ErrNotCalled)):
		t.Errorf("%s: got %+v, %v; want an error that leaves it open", what, a, err)
	case want != lost && (err != nil || a.Outcome != want):
		t.Errorf("%s: got %+v, %v; want the outcome %v", what, a, err, want)
	case want != lost && want != bank.Unknown && a.ProviderRef == "":
		t.Errorf("%s: the answer lacks the bank's reference", what)
	case want != bank.Found && a.Account.Status != "":
		t.Errorf("%s: it says of an account %+v", what, a.Account)
	}
}
