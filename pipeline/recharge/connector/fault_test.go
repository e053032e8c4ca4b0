package connector_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

// lost stands for an error that leaves the outcome unknown.
const lost = order.Outcome(-1)

// An order fails only if the aggregator reports a failure; an enquiry returns the actual
// state.
func TestSimulatorFaults(t *testing.T) {
	t.Parallel()
	for fault, c := range map[providers.Fault]struct {
		submit, enquiry, later order.Outcome
		effects                int
	}{
		providers.None:             {order.Succeeded, order.Succeeded, order.Succeeded, 1},
		providers.DropBefore:       {lost, order.Unknown, order.Unknown, 0},
		providers.Drop:             {lost, order.Succeeded, order.Succeeded, 1},
		providers.Delay:            {lost, order.Succeeded, order.Succeeded, 1},
		fakeaggregator.Duplicate:   {order.Succeeded, order.Succeeded, order.Succeeded, 1},
		fakeaggregator.Late:        {order.Pending, order.Pending, order.Succeeded, 1},
		fakeaggregator.LateFailure: {order.Pending, order.Pending, order.Failed, 0},
		fakeaggregator.LieFailed:   {order.Failed, order.Succeeded, order.Succeeded, 1},
		fakeaggregator.LieForever:  {order.Pending, order.Pending, order.Pending, 1},
		providers.Page:             {lost, order.Succeeded, order.Succeeded, 1},
		providers.Broken:           {lost, order.Succeeded, order.Succeeded, 1},
		providers.Flood:            {lost, order.Succeeded, order.Succeeded, 1},
		fakeaggregator.Refuse:      {order.Failed, order.Failed, order.Failed, 0},
	} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			now := fixture.NewClock(time.Now())
			ended, end := context.WithCancel(t.Context())
			s, c2 := serve(t, providers.Config{Late: 30 * time.Second, Slow: time.Hour, Delayed: end, Now: now.Now})
			s.Dice.Script(sampleOrder.Reference, fault)
			ctx := t.Context()
			if fault == providers.Delay {
				ctx = ended
			}
			a, err := c2.Operator.Submit(ctx, sampleOrder)
			wantOutcome(t, "the order", a, err, c.submit)
			a, err = c2.Operator.Enquire(t.Context(), sampleOrder)
			wantOutcome(t, "the enquiry", a, err, c.enquiry)
			now.Advance(30 * time.Second)
			a, err = c2.Operator.Enquire(t.Context(), sampleOrder)
			wantOutcome(t, "the enquiry later", a, err, c.later)
			if got := s.Effects()[sampleOrder.Reference]; got != c.effects {
				t.Errorf("it was carried out %d times, want %d", got, c.effects)
			}
			if got, want := s.Received(sampleOrder.Number), sampleOrder.Amount*schema.Paise(c.effects); got != want {
				t.Errorf("the subscriber has got %s, want %s", got, want)
			}
		})
	}
}

func wantOutcome(t *testing.T, what string, a order.Answer, err error, want order.Outcome) {
	t.Helper()
	switch {
	case want == lost && (err == nil || errors.Is(err, httpconnector.ErrNotSent)):
		t.Errorf("%s: got %v, %v; want an error that leaves it open", what, a, err)
	case want != lost && (err != nil || a.Outcome != want):
		t.Errorf("%s: got %v, %v; want the outcome %v", what, a, err, want)
	case want != lost && want != order.Unknown && a.ProviderRef == "":
		t.Errorf("%s: the provider's reference is unknown", what)
	}
}

// A failed enquiry has no outcome.
func TestFailedEnquiries(t *testing.T) {
	t.Parallel()
	ended, end := context.WithCancel(t.Context())
	s, c := serve(t, providers.Config{Slow: time.Hour, Delayed: end})
	if _, err := c.Operator.Submit(t.Context(), sampleOrder); err != nil {
		t.Fatal(err)
	}
	for _, f := range []providers.Fault{providers.Drop, providers.Page, providers.Broken, providers.Flood} {
		s.Dice.ScriptEnquiry(sampleOrder.Reference, f)
		a, err := c.Operator.Enquire(t.Context(), sampleOrder)
		wantOutcome(t, string(f), a, err, lost)
	}
	s.Dice.ScriptEnquiry(sampleOrder.Reference, providers.Delay)
	a, err := c.Operator.Enquire(ended, sampleOrder)
	wantOutcome(t, "delay", a, err, lost)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An unreadable answer must not count as a failure, nor as unknown, which would permit a
// resend.
func TestUnreadableAnswersAreNoOutcome(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		body   string
	}{
		"another word":      {200, `{"order_ref":"REF","status":"DECLINED"}`},
		"another case":      {200, `{"order_ref":"REF","status":"failed"}`},
		"no word":           {200, `{"order_ref":"REF"}`},
		"null":              {200, `{"order_ref":"REF","status":null}`},
		"an empty word":     {200, `{"order_ref":"REF","status":""}`},
		"a list":            {200, `[]`},
		"another reference": {200, `{"order_ref":"txn_other","status":"FAILED"}`},
		"both":              {200, `{"order_ref":"REF","status":"FAILED","status":"SUCCESS"}`},
		"a page":            {200, `<html>FAILED</html>`},
		"a page with 404":   {404, `<html>not found</html>`},
		"404 of a gateway":  {404, `{"message":"no route"}`},
		"400":               {400, `{"order_ref":"REF","status":"FAILED"}`},
		"401":               {401, `{"order_ref":"REF","status":"FAILED"}`},
		"500":               {500, `{"order_ref":"REF","status":"FAILED"}`},
		"502":               {502, `{"order_ref":"REF","status":"NOT_FOUND"}`},
		"503":               {503, `{"order_ref":"REF","status":"FAILED"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := answering(t, c.status, c.body, "REF", sampleOrder.Reference)
			a, err := conn.Operator.Submit(t.Context(), sampleOrder)
			wantOutcome(t, "submit", a, err, lost)
			a, err = conn.Operator.Enquire(t.Context(), sampleOrder)
			wantOutcome(t, "enquire", a, err, lost)
			a, err = conn.Reverser.Reverse(t.Context(), sampleOrder)
			wantOutcome(t, "refund", a, err, lost)
		})
	}
	// "Unknown" is a valid answer to an enquiry, but not to an order.
	conn := answering(t, 200, `{"status":"NOT_FOUND"}`)
	a, err := conn.Operator.Submit(t.Context(), sampleOrder)
	wantOutcome(t, "submit", a, err, lost)
}

func TestUnreachableProviderIsNotSent(t *testing.T) {
	t.Parallel()
	conn := open(t, fakeaggregator.Describe("http://127.0.0.1:1"), nil)
	if _, err := conn.Operator.Submit(t.Context(), sampleOrder); !errors.Is(err, httpconnector.ErrNotSent) {
		t.Errorf("got %v, want %v", err, httpconnector.ErrNotSent)
	}
	foreign := sampleOrder
	foreign.Operator = "Unheard"
	_, conn = serve(t, providers.Config{})
	if _, err := conn.Operator.Submit(t.Context(), foreign); !errors.Is(err, httpconnector.ErrNotSent) {
		t.Errorf("an operator without a code: got %v, want %v", err, httpconnector.ErrNotSent)
	}
}

// A call that the breaker blocks has not failed, and is made later.
func TestBreakerBlocksCalls(t *testing.T) {
	t.Parallel()
	conn := open(t, strings.Replace(fakeaggregator.Describe("http://127.0.0.1:1"), "failures: 1000, open: 1s", "failures: 1, open: 1h", 1), nil)
	if _, err := conn.Operator.Submit(t.Context(), sampleOrder); !errors.Is(err, httpconnector.ErrNotSent) {
		t.Errorf("the first: got %v, want %v", err, httpconnector.ErrNotSent)
	}
	if conn.Available() {
		t.Error("conn.Available() is true after the first")
	}
	for name, call := range map[string]func(context.Context, order.Order) (order.Answer, error){
		"submit": conn.Operator.Submit, "enquire": conn.Operator.Enquire, "refund": conn.Reverser.Reverse,
	} {
		if _, err := call(t.Context(), sampleOrder); !errors.Is(err, httpconnector.ErrNotCalled) || errors.Is(err, httpconnector.ErrNotSent) {
			t.Errorf("%s: got %v, want %v", name, err, httpconnector.ErrNotCalled)
		}
	}
}

func TestFailureCodes(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]schema.Code{
		`{"status":"FAILED","code":"BAD_NUMBER"}`: schema.InvalidNumber,
		`{"status":"FAILED","code":"BAD_AMOUNT"}`: schema.AmountNotSupported,
		`{"status":"FAILED","code":"DOWN"}`:       schema.OperatorUnavailable,
		`{"status":"FAILED","code":"E42"}`:        schema.OperatorNetworkError,
		`{"status":"FAILED"}`:                     schema.OperatorNetworkError,
		`{"status":"SUCCESS","code":"DOWN"}`:      "",
	} {
		a, err := answering(t, 200, body).Operator.Submit(t.Context(), sampleOrder)
		if err != nil || a.Code != want {
			t.Errorf("%s: got %v, %v, want %q", body, a, err, want)
		}
	}
}

// A provider's reference is stored and its circle is shown, so both are sanitized.
func TestProviderTextsAreSanitized(t *testing.T) {
	t.Parallel()
	for body, want := range map[string][2]string{
		`{"status":"SUCCESS","txn_id":"A-1","circle":"dl"}`:             {"A-1", "Delhi"},
		`{"status":"SUCCESS","txn_id":12345678901234567,"circle":"??"}`: {"12345678901234567", ""},
		`{"status":"SUCCESS","txn_id":"a b","circle":"<b>"}`:            {"", ""},
		`{"status":"SUCCESS","txn_id":"é"}`:                             {"", ""},
	} {
		a, err := answering(t, 200, body).Operator.Submit(t.Context(), sampleOrder)
		if err != nil || a.ProviderRef != want[0] || a.Circle != want[1] {
			t.Errorf("%s: got %q in %q, %v, want %q", body, a.ProviderRef, a.Circle, err, want)
		}
	}
}

// The log names the status that a file does not map.
func TestErrorNamesUnmappedStatus(t *testing.T) {
	t.Parallel()
	conn := answering(t, 200, `{"order_ref":"REF","status":"DECLINED"}`, "REF", sampleOrder.Reference)
	_, err := conn.Operator.Submit(t.Context(), sampleOrder)
	if err == nil || !strings.Contains(err.Error(), `"DECLINED" as status`) {
		t.Errorf("got %v", err)
	}
}

// A refund by the provider's reference is not sent before that is known: it could reverse
// another order.
func TestRefundNeedsProviderReference(t *testing.T) {
	t.Parallel()
	const ours, theirs = "path: /v1/orders/{reference}/refund", "path: /v1/refunds\n    body: {txn: \"{provider_ref}\"}"
	for ref, want := range map[string]error{"": httpconnector.ErrNotSent, "A-1": nil} {
		conn := answering(t, 200, `{"status":"REFUNDED"}`, ours, theirs)
		o := sampleOrder
		o.ProviderRef = ref
		if _, err := conn.Reverser.Reverse(t.Context(), o); !errors.Is(err, want) {
			t.Errorf("theirs is %q: got %v, want %v", ref, err, want)
		}
	}
}
