package chaos

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Inbox is the receiver of the webhooks of all clients: an endpoint over TLS, with a path for each.
// It verifies deliveries and counts them.
type Inbox struct {
	// CA is the authority of its certificate, as PEM.
	CA []byte

	server *httptest.Server

	mu      sync.Mutex
	secrets map[string]string // by path
	got     map[string]*Arrival
	bad     int
}

// Arrival is a received event.
type Arrival struct {
	First time.Time
	Again []time.Time
}

// NewInbox listens on a free port of 127.0.0.1.
func NewInbox() *Inbox {
	in := &Inbox{secrets: map[string]string{}, got: map[string]*Arrival{}}
	in.server = httptest.NewUnstartedServer(in)
	in.server.Config.ErrorLog = log.New(io.Discard, "", 0) // connections of killed processes
	in.server.StartTLS()
	in.CA = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: in.server.Certificate().Raw})
	return in
}

// Close stops listening and returns once the deliveries in flight are answered. Later deliveries
// are refused by the system.
func (in *Inbox) Close() { in.server.Close() }

// Subscribe creates a webhook for each client, each with a different path.
func (in *Inbox) Subscribe(ctx context.Context, api string, all []Account) error {
	for _, a := range all {
		var made struct{ Secret string }
		body := fmt.Sprintf(`{"url":%q,"events":[%q]}`, in.server.URL+"/"+a.ID, fired)
		if err := send(ctx, http.MethodPost, api+"/v1/webhooks", a.Key, body, &made); err != nil {
			return fmt.Errorf("subscribing: %w", err)
		}
		in.mu.Lock()
		in.secrets["/"+a.ID] = made.Secret
		in.mu.Unlock()
	}
	return nil
}

// ServeHTTP receives a delivery.
func (in *Inbox) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return // the sender was killed
	}
	now := time.Now()
	in.mu.Lock()
	defer in.mu.Unlock()
	var event struct{ ID string }
	if !genuine(r.Header.Get("X-SERVICE-Signature"), body, in.secrets[r.URL.Path]) || json.Unmarshal(body, &event) != nil {
		in.bad++
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if a := in.got[event.ID]; a != nil {
		a.Again = append(a.Again, now)
	} else {
		in.got[event.ID] = &Arrival{First: now}
	}
}

// InvalidSignatures returns the number of deliveries without a valid signature.
func (in *Inbox) InvalidSignatures() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.bad
}

// Arrived returns when an event first arrived; false if it did not.
func (in *Inbox) Arrived(id string) (time.Time, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	a := in.got[id]
	if a == nil {
		return time.Time{}, false
	}
	return a.First, true
}

// Between returns how many events arrived for the first time, and how many again, from one moment
// to another.
func (in *Inbox) Between(from, to time.Time) (first, again int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	within := func(at time.Time) bool { return !at.Before(from) && at.Before(to) }
	for _, a := range in.got {
		if within(a.First) {
			first++
		}
		for _, at := range a.Again {
			if within(at) {
				again++
			}
		}
	}
	return first, again
}

// send calls the API once with a body of JSON, and reads the reply.
func send(ctx context.Context, method, url, key, body string, into any) error {
	ctx, cancel := context.WithTimeout(ctx, 3*answerTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = reply.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(reply.Body, 1<<20))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil || reply.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("%s %s: %s %.300s", method, url, reply.Status, text)
	}
	return nil
}
