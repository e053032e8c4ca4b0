package webhook_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/webhook"
)

// delivery returns a request as the service sends it.
func delivery(body []byte, headers ...string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body))
	for _, h := range headers {
		r.Header.Add(webhook.Header, h)
	}
	return r
}

func TestReceiverReadsSignedBody(t *testing.T) {
	t.Parallel()
	v := webhook.Receiver{Secrets: []string{secret}, Now: func() time.Time { return noon }}
	got, err := v.Event(delivery(event, webhook.Sign(event, noon, secret)))
	if err != nil {
		t.Fatal(err)
	}
	want := webhook.Event{ID: "evt_01KAJ6V7C0N5Z2V5YB9E1WQ3RT", Type: "payment.succeeded", Created: 1_795_000_000, APIVersion: "2026-11-01",
		Data: []byte(`{"payment_id":"pay_1","amount":499.00,"payee":"आशा"}`)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	raw, err := v.Read(delivery(event, webhook.Sign(event, noon, secret)))
	if err != nil || !bytes.Equal(raw, event) {
		t.Errorf("the bytes: %v %q", err, raw)
	}
}

func TestReceiverRejects(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return noon }
	usual := webhook.Receiver{Secrets: []string{secret}, Now: now}
	strict := webhook.Receiver{Secrets: []string{secret}, Now: now, Tolerance: time.Second, Limit: 10}
	signed := func(body string, at time.Time) *http.Request {
		return delivery([]byte(body), webhook.Sign([]byte(body), at, secret))
	}
	unsized := func(r *http.Request) *http.Request { r.ContentLength = -1; return r }
	broken := delivery(event, webhook.Sign(event, noon, secret))
	broken.Body = io.NopCloser(iotest.ErrReader(io.ErrUnexpectedEOF))
	bare := &http.Request{Header: http.Header{}}
	cases := []struct {
		name     string
		receiver webhook.Receiver
		request  *http.Request
		want     error
	}{
		{"unsigned", usual, delivery(event), webhook.ErrNoSignature},
		{"two lines", usual, delivery(event, webhook.Sign(event, noon, secret), webhook.Sign(event, noon, secret)), webhook.ErrMalformed},
		{"another secret", usual, delivery(event, webhook.Sign(event, noon, other)), webhook.ErrMismatch},
		{"no secret", webhook.Receiver{Now: now}, delivery(event, webhook.Sign(event, noon, secret)), webhook.ErrNoSecret},
		{"by the real clock", webhook.Receiver{Secrets: []string{secret}}, signed("{}", time.Unix(1, 0)), webhook.ErrTooOld},
		{"its own tolerance", strict, signed("{}", noon.Add(-2*time.Second)), webhook.ErrTooOld},
		{"its own limit", strict, signed("12345678901", noon), webhook.ErrTooLarge},
		{"no length", strict, unsized(signed("12345678901", noon)), webhook.ErrTooLarge},
		{"the usual limit", usual, unsized(signed(strings.Repeat(" ", webhook.DefaultLimit+1), noon)), webhook.ErrTooLarge},
		{"no body", usual, bare, webhook.ErrNoSignature},
		{"no JSON", usual, signed("hello", noon), webhook.ErrNoEvent},
		{"no event", usual, signed(`{"status":"success"}`, noon), webhook.ErrNoEvent},
		{"broken off", usual, broken, io.ErrUnexpectedEOF},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.receiver.Event(c.request)
			if !errors.Is(err, c.want) || got.ID != "" {
				t.Errorf("got %v and %v, want %v", got, err, c.want)
			}
		})
	}
	if body, err := strict.Read(signed("1234567890", noon)); err != nil || len(body) != 10 {
		t.Errorf("a body at the limit: %v", err)
	}
	if body, err := usual.Read(delivery(event, webhook.Sign(event, noon, other))); err == nil || body != nil {
		t.Errorf("an error comes with %q", body)
	}
}
