package connector_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// serve starts a simulator with HTTP, and returns the connection of its description.
func serve(t *testing.T, c providers.Config, replace ...string) (*fakeaggregator.Simulator, order.Connection) {
	t.Helper()
	s := fakeaggregator.New(c)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	text := strings.NewReplacer(replace...).Replace(patient.Replace(fakeaggregator.Describe(server.URL)))
	return s, open(t, text, nil)
}

// patient makes calls wait as long as a description may, because the machine may be busy.
var patient = strings.NewReplacer("timeout: 5s", "timeout: 2m", "resend-after: 5s", "resend-after: 2m")

// open opens the connection of a description.
func open(t *testing.T, text string, reg prometheus.Registerer) order.Connection {
	t.Helper()
	return providers.Connect(t, connector.Open, text, httpconnector.Options{Metrics: httpconnector.NewMetrics(reg)})
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "operator.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

var sampleOrder = order.Order{
	Reference: "txn_01M7Q5CQYX0N5Z2V5YB9E1WQ3R", Type: schema.Prepaid, Number: "9812345678", Operator: "Airtel", Circle: "Delhi",
	Amount: 199_50, CreatedAt: time.Date(2026, 11, 18, 12, 26, 40, 0, time.UTC),
}

// answering returns a connection to an aggregator with a fixed answer.
func answering(t *testing.T, status int, body string, replace ...string) order.Connection {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return open(t, strings.NewReplacer(replace...).Replace(patient.Replace(fakeaggregator.Describe(server.URL))), nil)
}
