//go:build integration

package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"vayu/dispatch/webhook"
	"vayu/schema"
)

// inbox is a webhook receiver: HTTPS with its own authority.
type inbox struct {
	*httptest.Server

	t  *testing.T
	ca string // file of the authority

	mu      sync.Mutex
	secrets []string // one of which must have signed
	answer  func(received) int
	all     []received
	changed chan struct{} // closed and replaced with each delivery
}

// received is a delivery as it arrived.
type received struct {
	schema.Envelope

	at      time.Time
	header  http.Header
	body    []byte
	refused error // by the verification of the signature
}

// receive starts a receiver. Answer returns the status; nil means 200.
func receive(t *testing.T, answer func(received) int) *inbox {
	t.Helper()
	r := &inbox{t: t, answer: answer, changed: make(chan struct{})}
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.handle))
	r.Config.ErrorLog = log.New(io.Discard, "", 0) // connections of killed services
	r.StartTLS()
	t.Cleanup(r.Close)
	r.ca = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
	if err := os.WriteFile(r.ca, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return r
}

// flags returns the flags with which a service may deliver to r.
func (r *inbox) flags(more ...string) []string {
	return append([]string{"--webhook-allow", "127.0.0.0/8", "--webhook-ca", r.ca}, more...)
}

func (r *inbox) handle(w http.ResponseWriter, req *http.Request) {
	d := received{at: time.Now(), header: req.Header}
	var err error
	if d.body, err = io.ReadAll(req.Body); err != nil {
		return
	}
	_ = json.Unmarshal(d.body, &d.Envelope)
	r.mu.Lock()
	secrets, answer := r.secrets, r.answer
	r.mu.Unlock()
	d.refused = webhook.Verify(d.body, req.Header.Get(webhook.Header), d.at, secrets...)
	status := http.StatusOK
	if answer != nil {
		status = answer(d)
	}
	r.mu.Lock()
	r.all = append(r.all, d)
	close(r.changed)
	r.changed = make(chan struct{})
	r.mu.Unlock()
	w.WriteHeader(status)
}

// deliveries returns the deliveries so far, and a channel that is closed at the next
// one.
func (r *inbox) deliveries() ([]received, <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.all), r.changed
}

// wait waits until enough returns true.
func (r *inbox) wait(what string, enough func([]received) bool) []received {
	r.t.Helper()
	deadline := time.After(patience)
	for {
		all, changed := r.deliveries()
		if enough(all) {
			return all
		}
		select {
		case <-changed:
		case <-deadline:
			r.t.Fatalf("after %d deliveries still not %s", len(all), what)
		}
	}
}

// waitEvents waits for a number of distinct events, and returns the number of
// duplicates. It fails when no delivery arrives within patience, because a busy machine
// needs time after the last commit.
func (r *inbox) waitEvents(want int) (all []received, again int) {
	r.t.Helper()
	ids := map[string]bool{}
	for {
		var changed <-chan struct{}
		seen := len(all)
		all, changed = r.deliveries()
		for _, d := range all[seen:] {
			ids[d.ID] = true
		}
		if len(ids) >= want {
			return all, len(all) - len(ids)
		}
		select {
		case <-changed:
		case <-time.After(patience):
			r.t.Fatalf("of %d events %d arrived, and no more", want, len(ids))
		}
	}
}

// subscribe creates a subscription to r, which verifies signatures from then on.
func (s *serverProcess) subscribe(key string, r *inbox, path, events string) string {
	s.Helper()
	made := s.send(http.MethodPost, key, "/v1/webhooks", `{"url":"`+r.URL+path+`","events":[`+events+`]}`)
	if made.status != http.StatusCreated {
		s.Fatalf("subscribing: %d %s", made.status, made.raw)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.secrets = append(r.secrets, made.text("secret"))
	return made.text("id")
}
