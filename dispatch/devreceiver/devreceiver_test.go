package devreceiver_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/devreceiver"
	"vayu/dispatch/webhook"
)

func TestDeliveryIsPrinted(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}})
	if got := r.answer(t, event, secret, "1"); got != 200 {
		t.Errorf("got %d", got)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(r.String(), "the same --data, "+r.data+".\n")
	want := `11:06:40.500  payment.succeeded  ` + eventID + `  sandbox  dlv_1  attempt 1  verified  answer 200
{
  "id": "` + eventID + `",
  "type": "payment.succeeded",
  "created": 1795000000,
  "api_version": "2026-11-01",
  "data": {
    "test": true
  }
}

`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInvalidDeliveriesAreExplained(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}})
	for _, c := range []struct{ name, body, key, want string }{
		{"another secret", event, "whsec_another", "NOT VERIFIED: " + webhook.ErrMismatch.Error()},
		{"no signature", event, "", "NOT VERIFIED: " + webhook.ErrNoSignature.Error()},
		{"no event", "hello", secret, "no event  sandbox  dlv_1  attempt 1  verified"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := r.answer(t, c.body, c.key, "1"); got != 200 {
				t.Errorf("got the status %d, want 200", got)
			}
			if !strings.Contains(r.String(), c.want) {
				t.Errorf("no %q in:\n%s", c.want, r)
			}
		})
	}
	if got := r.answer(t, strings.Repeat(" ", 1<<20+1), secret, "1"); got != http.StatusBadRequest {
		t.Errorf("a body of more than 1 MiB is answered with %d", got)
	}
	if reply, err := r.client.Get(r.address); err != nil || reply.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("GET: %v %v", reply, err)
	}
	if _, err := new(http.Client).Get(r.address); err == nil {
		t.Error("its certificate is trusted by everybody")
	}
	r.until(t, `TLS handshake error from 127\.0\.0\.1:\d+: remote error: tls: .*; was the service started with --webhook-local and the same --data\?\n`)
}

// A forged delivery does not make the genuine one a duplicate.
func TestDuplicatesAreReported(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{"whsec_old", secret}, Answer: 503})
	_ = r.answer(t, event, "whsec_forged", "1")
	if got := r.answer(t, event, secret, "2"); got != 503 {
		t.Errorf("got %d", got)
	}
	if strings.Contains(r.String(), "duplicate") {
		t.Errorf("a forgery counts:\n%s", r)
	}
	_ = r.answer(t, event, "whsec_old", "3")
	r.until(t, `attempt 3  verified  answer 503  duplicate\n`)
}

// In strict mode the receiver does not acknowledge deliveries that it cannot verify.
func TestStrictRejectsUnverified(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}, Strict: true, Answer: 204, Brief: true})
	for key, want := range map[string]int{secret: 204, "whsec_forged": 400, "": 400} {
		if got := r.answer(t, event, key, "1"); got != want {
			t.Errorf("signed with %q: got %d, want %d", key, got, want)
		}
	}
	r.until(t, "verified  answer 204")
	r.until(t, "NOT VERIFIED: .*  answer 400")
	r = start(t, devreceiver.Config{Strict: true})
	if got := r.answer(t, event, secret, "1"); got != 400 {
		t.Errorf("without a secret: got %d", got)
	}
	r.until(t, "not verified: no secret was given(?s).* answer 400")
}

func TestBriefPrintsOneLine(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}, Brief: true, Delay: time.Millisecond})
	_, _ = r.answer(t, event, secret, "1"), r.answer(t, event, secret, "2")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(r.String(), "the same --data, "+r.data+".\n")
	want := `11:06:40.500  payment.succeeded  ` + eventID + `  sandbox  dlv_1  attempt 1  verified  answer 200 in 1ms
11:06:40.500  payment.succeeded  ` + eventID + `  sandbox  dlv_1  attempt 2  verified  answer 200 in 1ms  duplicate
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A connection that the receiver closes at its stop is not reported as a failure.
func TestFailedConnectionsAreExplained(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}})
	host := strings.TrimSuffix(strings.TrimPrefix(r.address, "https://"), "/")
	dial := func() net.Conn {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	_ = dial().Close()
	r.until(t, `TLS handshake error from 127\.0\.0\.1:\d+: EOF`)
	if _, err := dial().Write([]byte{22, 3, 1}); err != nil { // the begin of a handshake
		t.Fatal(err)
	}
	_ = r.answer(t, event, secret, "1") // it was accepted after the other
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(r.String(), "handshake error"); got != 1 {
		t.Errorf("got %d failed connections, want 1:\n%s", got, r)
	}
}

// A reply must not become a 200 after the sender has disconnected, or after the
// command has begun to stop.
func TestLateReplyIsAborted(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}, Delay: time.Hour})
	ctx, disconnect := context.WithCancel(t.Context())
	failed := make(chan error, 2)
	go func() { _, err := r.post(ctx, t, event, secret, "1"); failed <- err }()
	r.until(t, "attempt 1 .* answer 200 in 1h0m0s")
	disconnect()
	if err := <-failed; err == nil {
		t.Error("a client that disconnected has a reply")
	}
	r.until(t, "attempt 1: no answer was sent\n")
	go func() { _, err := r.post(context.WithoutCancel(t.Context()), t, event, secret, "2"); failed <- err }()
	r.until(t, "attempt 2 .* answer 200 in 1h0m0s")
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; err == nil {
		t.Error("a stopping command acknowledges a pending delivery")
	}
	r.until(t, "attempt 2: no answer was sent\n")
}

// The output escapes control sequences in a body, which a terminal would run.
func TestOutputIsEscaped(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{Secrets: []string{secret}})
	for _, body := range []string{
		"\x1b]0;title\x07 \x9b2J \u009b2J \u202e \r\n ok",
		`{"id":"evt_` + `\u001b[2J\n","type":"\u202e` + strings.Repeat("x", 1000) + `","data":"` + "\u009b2J \u202e" + `"}`,
		"\x1b[2J" + strings.Repeat("[", 500_000),
	} {
		_ = r.answer(t, body, secret, "1")
	}
	_ = r.stop()
	shown := r.String()
	if strings.ContainsAny(shown, "\x1b\x07\r\u009b\u202e") || !strings.Contains(shown, "\ufffd]0;title\ufffd \ufffd2J \ufffd2J \ufffd") {
		t.Errorf("%q", shown)
	}
	if len(shown) > 100_000 {
		t.Errorf("%d bytes are printed", len(shown))
	}
}

func TestMinimumTLSVersion(t *testing.T) {
	t.Parallel()
	r := start(t, devreceiver.Config{})
	host := strings.TrimSuffix(strings.TrimPrefix(r.address, "https://"), "/")
	for version, want := range map[uint16]bool{tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		settings := r.client.Transport.(*http.Transport).TLSClientConfig.Clone()
		settings.MinVersion, settings.MaxVersion = version, version
		conn, err := tls.Dial("tcp", host, settings)
		if (err == nil) != want {
			t.Errorf("%s: %v", tls.VersionName(version), err)
		}
		if err == nil {
			_ = conn.Close()
		}
	}
}

func TestUsedPortIsReported(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	l, err := devreceiver.New(devreceiver.Config{Data: t.TempDir(), Port: taken.Addr().(*net.TCPAddr).Port, Answer: 200, Out: newScreen(), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "is taken by another program; choose another with --port") {
		t.Errorf("got %v", err)
	}
}

func TestInvalidSettings(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]devreceiver.Config{
		"port 65536":       {Port: 65536, Answer: 200},
		"answer 199":       {Answer: 199},
		"answer 600":       {Answer: 600},
		"delay -1s":        {Answer: 200, Delay: -time.Second},
		"secret is missin": {Answer: 200, Secrets: []string{""}},
		"nowhere":          {Answer: 200, Client: &devreceiver.Client{API: "nowhere", Key: "k"}},
		"not the address":  {Answer: 200, Client: &devreceiver.Client{API: "http://:8080", Key: "k"}}, // no host at all
		"use https":        {Answer: 200, Client: &devreceiver.Client{API: "http://vayu.example", Key: "k"}},
		"neither":          {Answer: 200, Client: &devreceiver.Client{API: "ftp://127.0.0.1", Key: "k"}},
		"invalid API key":  {Answer: 200, Client: &devreceiver.Client{API: "http://127.0.0.1", Key: "a\nb"}},
	} {
		if _, err := devreceiver.New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}
