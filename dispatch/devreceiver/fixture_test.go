package devreceiver_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/devreceiver"
	"vayu/dispatch/webhook"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// noon is the time of all events in these tests. The ULID in eventID is 23 ms older.
var noon = time.UnixMilli(1_795_000_000_500).UTC()

const eventID = "evt_01M7Q5CQYX0N5Z2V5YB9E1WQ3R"

const event = `{"id":"` + eventID + `","type":"payment.succeeded","created":1795000000,"api_version":"2026-11-01","data":{"test":true}}`

func noonNow() time.Time { return noon }

// screen records the output of a listener.
type screen struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

func newScreen() *screen { return &screen{changed: make(chan struct{})} }

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.changed)
	s.changed = make(chan struct{})
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// until waits until the output matches a pattern, and returns the match. A timeout
// fails the test.
func (s *screen) until(t *testing.T, pattern string) []string {
	t.Helper()
	vain := time.After(5 * time.Minute)
	for {
		s.mu.Lock()
		found, changed := regexp.MustCompile(pattern).FindStringSubmatch(s.text.String()), s.changed
		s.mu.Unlock()
		if found != nil {
			return found
		}
		select {
		case <-changed:
		case <-vain:
			t.Fatalf("no %q in:\n%s", pattern, s)
		}
	}
}

// running is a running listener.
type running struct {
	*screen
	data    string // data directory
	address string
	client  *http.Client
	stop    func() error // ends it, and is what Run returned
}

// start runs a listener on a free port. Fields that c omits get the usual values.
func start(t *testing.T, c devreceiver.Config) *running {
	t.Helper()
	if c.Data == "" {
		c.Data = t.TempDir()
	}
	if c.Answer == 0 {
		c.Answer = 200
	}
	r := &running{screen: newScreen(), data: c.Data}
	c.Out, c.Now = r.screen, noonNow
	l, err := devreceiver.New(c)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- l.Run(ctx) }()
	r.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	t.Cleanup(func() { _ = r.stop() })
	r.address = r.until(t, `Listening on (https://localhost:\d+/)`)[1]
	r.client = trustingClient(t, c.Data)
	return r
}

// trustingClient returns a client that trusts only the certificate of a data directory.
func trustingClient(t *testing.T, data string) *http.Client {
	t.Helper()
	path, err := devreceiver.Certificate(data)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		t.Fatalf("%s holds no certificate", path)
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// post sends a delivery as the service does, signed with key.
func (r *running) post(ctx context.Context, t *testing.T, body, key, attempt string) (*http.Response, error) {
	t.Helper()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, r.address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("X-SERVICE-Event-Id", eventID)
	q.Header.Set("X-SERVICE-Delivery-Id", "dlv_1")
	q.Header.Set("X-SERVICE-Attempt", attempt)
	q.Header.Set("X-SERVICE-Mode", "sandbox")
	if key != "" {
		q.Header.Set(webhook.Header, webhook.Sign([]byte(body), noon, key))
	}
	reply, err := r.client.Do(q)
	if err == nil {
		_ = reply.Body.Close()
	}
	return reply, err
}

// answer returns the status of the reply to a delivery.
func (r *running) answer(t *testing.T, body, key, attempt string) int {
	t.Helper()
	reply, err := r.post(t.Context(), t, body, key, attempt)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode
}
