package connector_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"vayu/internal/testing/fixture"
	"vayu/internal/testing/providers"
	"vayu/internal/testing/providers/fakeaggregator"
	"vayu/pipeline/httpconnector"
	"vayu/pipeline/recharge/connector"
	"vayu/pipeline/recharge/order"
	"vayu/schema"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	_, c := serve(t, providers.Config{}, "concurrency: 32", "concurrency: 7", "recharge:\n", "recharge:\n  world: sandbox\n  serves: [Airtel, d2h]\n")
	switch {
	case c.Name != "simulator":
		t.Errorf("c.Name = %q, want \"simulator\"", c.Name)
	case c.World != schema.Sandbox:
		t.Errorf("c.World = %v, want %v", c.World, schema.Sandbox)
	case c.Timeout != 2*time.Minute:
		t.Errorf("c.Timeout = %v, want %v", c.Timeout, 2*time.Minute)
	case c.ResendAfter != 2*time.Minute:
		t.Errorf("c.ResendAfter = %v, want %v", c.ResendAfter, 2*time.Minute)
	case c.Concurrency != 7:
		t.Errorf("c.Concurrency = %v, want 7", c.Concurrency)
	case !cmp.Equal(c.Operators, []string{"Airtel", "d2h"}):
		t.Errorf("c.Operators = %v, want %v", c.Operators, []string{"Airtel", "d2h"})
	case !c.Available():
		t.Error("c.Available() is false")
	case c.Reverser == nil:
		t.Error("c.Reverser is nil")
	case c.Directory == nil:
		t.Error("c.Directory is nil")
	case c.Receiver == nil:
		t.Error("c.Receiver is nil")
	}
	_, c = serve(t, providers.Config{})
	if len(c.Operators) != 10 {
		t.Errorf("it serves %v", c.Operators)
	}
	text, _, _ := strings.Cut(fakeaggregator.Describe("https://aggregator.example"), "  refund:")
	c = open(t, text, nil)
	switch {
	case c.Operators != nil:
		t.Errorf("c.Operators = %v, want nil", c.Operators)
	case c.Reverser != nil:
		t.Errorf("c.Reverser = %v, want nil", c.Reverser)
	case c.Directory != nil:
		t.Errorf("c.Directory = %v, want nil", c.Directory)
	case c.Receiver != nil:
		t.Errorf("c.Receiver = %v, want nil", c.Receiver)
	case c.ResendAfter != 2*time.Minute:
		t.Errorf("c.ResendAfter = %v, want %v", c.ResendAfter, 2*time.Minute)
	case c.World != schema.Live:
		t.Errorf("c.World = %v, want %v", c.World, schema.Live)
	}
}

// Two files with one registry are two connections.
func TestSeveralFilesShareMetrics(t *testing.T) {
	t.Parallel()
	reg := prometheus.NewRegistry()
	metrics := httpconnector.NewMetrics(reg)
	for _, name := range []string{"first", "second"} {
		file := write(t, strings.Replace(fakeaggregator.Describe("http://127.0.0.1:1"), "name: simulator", "name: "+name, 1))
		c, err := connector.Open(file, httpconnector.Options{Metrics: metrics})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = c.Operator.Submit(t.Context(), sampleOrder)
	}
	if counted := fixture.MetricValue(t, reg, "vayu_provider_calls_total"); counted != 2 {
		t.Errorf("%v calls are counted, want 2", counted)
	}
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	s, c := serve(t, providers.Config{})
	other := sampleOrder
	other.Reference = "txn_refused"
	s.Dice.Script(other.Reference, fakeaggregator.Refuse)
	for _, o := range []order.Order{sampleOrder, other} {
		if _, err := c.Operator.Submit(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		a, err := c.Reverser.Reverse(t.Context(), sampleOrder)
		if err != nil || a.Outcome != order.Reversed {
			t.Errorf("got %v, %v", a, err)
		}
	}
	if got := s.Received(sampleOrder.Number); got != 0 {
		t.Errorf("the subscriber has kept %s", got)
	}
	if a, err := c.Reverser.Reverse(t.Context(), other); err != nil || a.Outcome != order.Failed {
		t.Errorf("what has failed: got %v, %v", a, err)
	}
	if a, err := c.Operator.Enquire(t.Context(), sampleOrder); err != nil || a.Outcome != order.Reversed {
		t.Errorf("the enquiry: got %v, %v", a, err)
	}
}

func TestNumbersAndPlans(t *testing.T) {
	t.Parallel()
	s, c := serve(t, providers.Config{})
	s.Ported = map[string]string{sampleOrder.Number: "Jio"}
	if sub, err := c.Directory.Detect(t.Context(), sampleOrder.Number); err != nil || sub.Operator != "Jio" {
		t.Errorf("a ported number: got %v, %v", sub, err)
	}
	if sub, err := c.Directory.Detect(t.Context(), "6000000000"); err != nil && sub != (order.Subscriber{}) {
		t.Errorf("got %v, %v", sub, err)
	}
	s.Dice.ScriptEnquiry(sampleOrder.Number, providers.Page)
	if sub, err := c.Directory.Detect(t.Context(), sampleOrder.Number); err == nil {
		t.Errorf("a page: got %v", sub)
	}
	if a, err := c.Operator.Submit(t.Context(), sampleOrder); err != nil || a.Outcome != order.NotSubscriber {
		t.Errorf("an order for the operator that it has left: got %v, %v", a, err)
	}
	got, err := c.Directory.Plans(t.Context(), "Jio", "")
	want := []schema.Plan{
		{Amount: 19900, Days: 28, Description: "1.5 GB a day, unlimited calls"}, {Amount: 29900, Days: 28, Description: "2 GB a day, unlimited calls"},
		{Amount: 2200, Days: 1, Description: "1 GB"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("plans (-want +got), %v:\n%s", err, diff)
	}
	for body, want := range map[string]order.Subscriber{
		`{"operator":"AT","circle":"DL"}`:   {Operator: "Airtel", Circle: "Delhi"},
		`{"operator":"AT","circle":"Mars"}`: {Operator: "Airtel"},
		`{"operator":"AD"}`:                 {}, // DTH has no numbers
		`{"operator":"Airtel"}`:             {}, // no code of theirs
		`{}`:                                {},
	} {
		t.Run(body, func(t *testing.T) {
			sub, err := answering(t, 200, body).Directory.Detect(t.Context(), sampleOrder.Number)
			if sub != want {
				t.Errorf("got %v, want %v", sub, want)
			}
			if (err != nil) != (want.Operator == "") {
				t.Errorf("got the error %v for %v", err, want)
			}
		})
	}
	for body, want := range map[string]string{
		`{"plans":[{"price":"1.5","days":"x","text":"a\n\u0000<b>  \u202e"}]}`: "a <b>",
		`{"plans":[{"price":1,"text":"` + strings.Repeat("é", 1000) + `"}]}`:   strings.Repeat("é", 299) + "…",
		`{"plans":[{"price":0}]}`:     "",
		`{"plans":[{"price":"ten"}]}`: "",
		`{"plans":[{}]}`:              "",
	} {
		t.Run(fmt.Sprintf("%.40s", body), func(t *testing.T) {
			all, err := answering(t, 200, body).Directory.Plans(t.Context(), "Airtel", "Delhi")
			if (err != nil) != (want == "") {
				t.Fatalf("got %v, %v, want %q", all, err, want)
			}
			if err == nil && all[0].Description != want {
				t.Errorf("got %q, want %q", all[0].Description, want)
			}
		})
	}
}

// A callback needs a valid signature and a mapped status.
func TestCallbacks(t *testing.T) {
	t.Parallel()
	now := fixture.NewClock(time.Now())
	s, c := serve(t, providers.Config{Callback: "set below", Now: now.Now, Late: time.Second})
	type request struct {
		header http.Header
		body   []byte
	}
	came := make(chan request, 10)
	endpoint := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- request{r.Header, body}
	}))
	t.Cleanup(endpoint.Close)
	s.Callback = endpoint.URL
	s.Dice.Script(sampleOrder.Reference, fakeaggregator.Late)
	if a, err := c.Operator.Submit(t.Context(), sampleOrder); err != nil || a.Outcome != order.Pending {
		t.Fatalf("got %v, %v", a, err)
	}
	if s.Callbacks.SendCallbacks(t.Context()); len(came) != 0 {
		t.Error("a callback is sent before the change")
	}
	now.Advance(time.Second)
	s.Callbacks.SendCallbacks(t.Context())
	got := <-came
	callback, err := c.Receiver.Receive(got.header, got.body, now.Now())
	if err != nil {
		t.Fatal(err)
	}
	if callback.Reference != sampleOrder.Reference {
		t.Errorf("the reference is %q, want %q", callback.Reference, sampleOrder.Reference)
	}
	if got := callback.Answer.Outcome; got != order.Succeeded {
		t.Errorf("the outcome is %v, want %v", got, order.Succeeded)
	}
	if !s.TakeBack(sampleOrder.Reference) {
		t.Fatal("the order cannot be reversed")
	}
	s.Callbacks.SendCallbacks(t.Context())
	got = <-came
	if callback, err = c.Receiver.Receive(got.header, got.body, now.Now()); err != nil {
		t.Fatal(err)
	}
	if got := callback.Answer.Outcome; got != order.Reversed {
		t.Errorf("the outcome is %v, want %v", got, order.Reversed)
	}
	signed := func(body string) request {
		h := http.Header{}
		providers.Sign(h, []byte(body), now.Now())
		return request{h, []byte(body)}
	}
	for name, c2 := range map[string]struct {
		request
		code schema.Code
	}{
		"without a signature":   {request{http.Header{}, got.body}, schema.SignatureRequired},
		"another body":          {request{got.header, []byte(`{}`)}, schema.SignatureInvalid},
		"no JSON":               {signed("x"), schema.InvalidRequest},
		"no reference":          {signed(`{"status":"SUCCESS"}`), schema.InvalidRequest},
		"an unmapped status":    {signed(`{"order_ref":"a","status":"DONE"}`), schema.InvalidRequest},
		"one only for enquiry":  {signed(`{"order_ref":"a","status":"NOT_FOUND"}`), schema.InvalidRequest},
		"a reference that is 2": {signed(`{"order_ref":"a","order_ref":"b","status":"SUCCESS"}`), schema.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Receiver.Receive(c2.header, c2.body, now.Now())
			var p *schema.Problem
			if !errors.As(err, &p) {
				t.Fatalf("got %v, want %s", err, c2.code)
			}
			if p.Code != c2.code {
				t.Errorf("got %v, want %s", err, c2.code)
			}
			if strings.Contains(p.Message, "DONE") {
				t.Errorf("the client gets %q", p.Message)
			}
		})
	}
	now.Advance(6 * time.Minute)
	var p *schema.Problem
	if _, err := c.Receiver.Receive(got.header, got.body, now.Now()); !errors.As(err, &p) {
		t.Errorf("an old one: got %v, want a problem", err)
	} else if p.Code != schema.SignatureInvalid {
		t.Errorf("an old one: code = %s, want %s", p.Code, schema.SignatureInvalid)
	}
}
