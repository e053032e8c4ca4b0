package connector_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakebank"
	"vayu/pipeline/verify/bank"
	"vayu/schema"
)

type request struct {
	header http.Header
	body   []byte
}

// A callback reports a late outcome.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	now := fixture.NewClock(time.Now())
	s, c := serve(t, providers.Config{Now: now.Now, Late: time.Second})
	came := make(chan request, 10)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- request{r.Header, body}
	}))
	t.Cleanup(endpoint.Close)
	s.Callback = endpoint.URL
	s.Dice.Script(drop.Reference, fakebank.Late)
	a, err := c.Bank.Deposit(t.Context(), drop)
	wantOutcome(t, "the deposit", a, err, bank.Pending)
	if s.Callbacks.SendCallbacks(t.Context()); len(came) != 0 {
		t.Error("a callback is sent before the change")
	}
	now.Advance(time.Second)
	s.Callbacks.SendCallbacks(t.Context())
	got := <-came
	callback, err := c.Receiver.Receive(got.header, got.body, now.Now())
	wantOutcome(t, "the callback", callback.Answer, err, bank.Found)
	if callback.Reference != drop.Reference {
		t.Errorf("the reference is %q, want %q", callback.Reference, drop.Reference)
	}
	if got, want := callback.Answer.Account.Name, fakebank.DefaultAccount.Name; got != want {
		t.Errorf("the name is %q, want %q", got, want)
	}
	if callback.Answer.UTR == "" {
		t.Error("the callback has no UTR")
	}
	now.Advance(6 * time.Minute)
	var p *schema.Problem
	if _, err := c.Receiver.Receive(got.header, got.body, now.Now()); !errors.As(err, &p) {
		t.Errorf("an old one: got %v, want a problem", err)
	} else if p.Code != schema.SignatureInvalid {
		t.Errorf("an old one: code = %s, want %s", p.Code, schema.SignatureInvalid)
	}
}

// A callback must be signed and readable.
func TestRefusedCallbacks(t *testing.T) {
	t.Parallel()
	_, c := serve(t, providers.Config{})
	now := time.Now()
	signed := func(body string) request {
		h := http.Header{}
		providers.Sign(h, []byte(body), now)
		return request{h, []byte(body)}
	}
	for name, o := range map[string]struct {
		request
		code schema.Code
	}{
		"without a signature":   {request{http.Header{}, []byte(`{}`)}, schema.SignatureRequired},
		"another body":          {request{signed(`{"ref":"a","result":"INVALID"}`).header, []byte(`{}`)}, schema.SignatureInvalid},
		"no JSON":               {signed("x"), schema.InvalidRequest},
		"no reference":          {signed(`{"result":"INVALID"}`), schema.InvalidRequest},
		"an unmapped value":     {signed(`{"ref":"a","result":"DONE"}`), schema.InvalidRequest},
		"one only for enquiry":  {signed(`{"ref":"a","result":"UNSEEN"}`), schema.InvalidRequest},
		"a reference that is 2": {signed(`{"ref":"a","ref":"b","result":"INVALID"}`), schema.InvalidRequest},
		"an unmapped state":     {signed(`{"ref":"a","result":"VALID","account":{"state":"DONE"}}`), schema.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			callback, err := c.Receiver.Receive(o.header, o.body, now)
			var p *schema.Problem
			if !errors.As(err, &p) {
				t.Fatalf("got %+v, %v, want %s", callback, err, o.code)
			}
			if p.Code != o.code {
				t.Errorf("got %v, want %s", err, o.code)
			}
			if strings.Contains(p.Message, "DONE") {
				t.Errorf("the unmapped value is in the message %q", p.Message)
			}
		})
	}
}
