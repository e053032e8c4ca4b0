package recharge_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"vayu/internal/access/accesstest"
	"vayu/schema"
)

// when lists the fields with unpredictable values.
var when = cmpopts.IgnoreFields(schema.Recharge{}, "TransactionID", "CreatedAt", "CompletedAt", "FailedAt", "RefundedAt", "RefundID")

func TestPostReturnsOutcome(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		first := d.sandboxRequest("POST", "/v1/recharge", orderFor("+91 90000-00001", "a", "199.50"))
		got := read[schema.Recharge](t, first, 200)
		want := schema.Recharge{
			Status: schema.RechargeSuccess, Operator: "Airtel", Circle: "Delhi", Amount: 199_50, RefID: "a", Mobile: "9000000001", Type: schema.Prepaid,
			Message:   "Recharge of ₹199.50 for 9000000001 (Airtel, Delhi) was successful.",
			Detection: &schema.Detection{Source: "lookup", Confidence: "high"},
		}
		if diff := cmp.Diff(want, got, when); diff != "" {
			t.Errorf("the reply (-want +got):\n%s", diff)
		}
		if head := `{"status":"success","transaction_id":"` + got.TransactionID + `","operator":"Airtel","circle":"Delhi","amount":199.5,"message":"`; !strings.HasPrefix(first.Text, head) {
			t.Errorf("the six fields of the specification do not come first: %s", first.Text)
		}
		again := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "a", "1.995e2"))
		switch {
		case again.Status != 200:
			t.Errorf("again: again.Status = %v, want 200", again.Status)
		case again.Text != first.Text:
			t.Errorf("again: again.Text = %q, want %q", again.Text, first.Text)
		case again.Header.Get("Idempotent-Replayed") != "true":
			t.Errorf("again: again.Header.Get(\"Idempotent-Replayed\") = %q, want \"true\"", again.Header.Get("Idempotent-Replayed"))
		case first.Header.Get("Idempotent-Replayed") != "":
			t.Errorf("again: first.Header.Get(\"Idempotent-Replayed\") = %q, want none", first.Header.Get("Idempotent-Replayed"))
		}
		if shown := d.sandboxRequest("GET", "/v1/recharge/"+got.TransactionID, ""); shown.Text != first.Text {
			t.Errorf("it is shown as %s, want %s", shown.Text, first.Text)
		}
		for what, body := range map[string]string{
			"another amount":   orderFor("9000000001", "a", "200"),
			"another number":   orderFor("9000000002", "a", "199.5"),
			"another operator": strings.Replace(orderFor("9000000001", "a", "199.5"), "auto", "Airtel", 1),
		} {
			d.sandboxRequest("POST", "/v1/recharge", body).WantError(t, what, 409, schema.DuplicateRefID, "ref_id")
		}
		d.liveRequest("GET", "/v1/recharge/"+got.TransactionID, "").WantError(t, "in the other world", 404, schema.NotFound, "")
		for _, id := range []string{"txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "x", "%00"} {
			d.sandboxRequest("GET", "/v1/recharge/"+id, "").WantError(t, id, 404, schema.NotFound, "")
		}
		d.sandboxRequest("GET", "/v1/recharge/"+got.TransactionID+"?view=all", "").WantError(t, "a parameter", 400, schema.InvalidRequest, "view")
		d.sandboxRequest("POST", "/v1/recharge?wait=1", orderFor("9000000001", "b", "20")).WantError(t, "a parameter", 400, schema.InvalidRequest, "wait")
		d.sandboxRequest("POST", "/v1/recharge", "").WantError(t, "no body", 400, schema.InvalidRequest, "")
	})
}

func TestFailedRechargeStatus(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		for i, c := range []struct {
			name           string
			mobile, amount string
			status         int
			code           schema.Code
			operator       string
			field, says    string
		}{
			{"insufficient balance", "9000000001", "1000.01", 402, schema.InsufficientBalance, "Airtel", "", "The balance does not cover"},
			{"Devanagari digits", "९८७६५४३२१०", "20", 422, schema.InvalidNumber, "auto", "mobile", "ten digits, of which the first is 6 to 9."},
			{"no subscriber", "9000000004", "20", 422, schema.InvalidNumber, "Airtel", "mobile", "has no subscriber"},
		} {
			t.Run(c.name, func(t *testing.T) {
				body := orderFor(c.mobile, fmt.Sprint("ref ", i), c.amount)
				reply := d.sandboxRequest("POST", "/v1/recharge", body, "X-Request-Id", "first")
				got := read[schema.Recharge](t, reply, c.status)
				switch {
				case got.Status != schema.RechargeFailed:
					t.Errorf("%s: %s: Status = %v, want %v", body, reply.Text, got.Status, schema.RechargeFailed)
				case got.Operator != c.operator:
					t.Errorf("%s: %s: Operator = %q, want %q", body, reply.Text, got.Operator, c.operator)
				case got.Mobile != c.mobile:
					t.Errorf("%s: %s: Mobile = %v, want %v", body, reply.Text, got.Mobile, c.mobile)
				case got.FailedAt == "":
					t.Errorf("%s: %s: FailedAt is empty", body, reply.Text)
				}
				want := &schema.Problem{Code: c.code, Field: c.field, Message: got.Message, RequestID: "first"}
				if diff := cmp.Diff(want, got.Error); diff != "" || !strings.Contains(got.Message, c.says) || !strings.HasSuffix(got.Message, " Nothing was charged.") {
					t.Errorf("%s: %s (-want +got):\n%s", body, got.Message, diff)
				}
				replay := d.sandboxRequest("POST", "/v1/recharge", body, "X-Request-Id", "second")
				if replay.Status != c.status || replay.Header.Get("Idempotent-Replayed") != "true" || replay.TextAt("error.request_id") != "second" {
					t.Errorf("%s: the replay is %d %s", body, replay.Status, replay.Text)
				}
				shown := d.sandboxRequest("GET", "/v1/recharge/"+got.TransactionID, "")
				if shown.Status != 200 || shown.TextAt("error.code") != string(c.code) || shown.At("error.request_id") != nil {
					t.Errorf("%s: it is shown as %d %s", body, shown.Status, shown.Text)
				}
				d.sandboxRequest("POST", "/v1/recharge/"+got.TransactionID+"/refund", "").WantError(t, "refunding what has failed", 400, schema.InvalidRequest, "id")
			})
		}
	})
}

func TestPendingRechargeReturns202(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		for _, wait := range []string{"wait=0", "wait=1", "nonsense"} {
			reply := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000007", wait, "20"), "Prefer", wait)
			got := read[schema.Recharge](t, reply, 202)
			if got.Status != schema.RechargePending {
				t.Errorf("%s: status = %s, want pending", wait, got.Status)
			}
			if location, want := reply.Header.Get("Location"), "/v1/recharge/"+got.TransactionID; location != want {
				t.Errorf("%s: location = %q, want %q", wait, location, want)
			}
			if !strings.Contains(got.Message, "waiting") {
				t.Errorf("%s: message = %q, want one about waiting", wait, got.Message)
			}
			replay := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000007", wait, "20"))
			if replay.Status != 202 || replay.Header.Get("Idempotent-Replayed") != "true" || replay.Header.Get("Location") == "" {
				t.Errorf("%s: the replay is %d %v", wait, replay.Status, replay.Header)
			}
			d.sandboxRequest("POST", "/v1/recharge/"+got.TransactionID+"/refund", "").WantError(t, "refunding what is pending", 400, schema.InvalidRequest, "id")
		}
	})
}

// A request with Prefer: wait returns the result of a callback, also when it is replayed.
func TestPreferWait(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		body := strings.Replace(orderFor("9876543210", "a", "20"), "auto", "Airtel", 1)
		replies := make(chan accesstest.Reply)
		ask := func() { replies <- d.liveRequest("POST", "/v1/recharge", body, "Prefer", "wait=30") }
		go ask()
		var id string
		until(t, func() bool {
			for _, r := range read[schema.List[schema.Recharge]](t, d.liveRequest("GET", "/v1/recharge", ""), 200).Data {
				id = r.TransactionID
			}
			return id != ""
		})
		go ask()
		d.sendCallback("pending", id, "done").Want(t, "the pending", 200)
		for range 2 {
			if got := (<-replies).Want(t, "a reply", 200); got.TextAt("transaction_id") != id || got.TextAt("status") != "success" {
				t.Errorf("got %s", got.Text)
			}
		}
	})
}

// An invalid or unsupported request stores nothing.
func TestRejectedPostStoresNothing(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		good := orderFor("9000000001", "a", "20")
		for body, want := range map[string]schema.Code{
			`{`:  schema.InvalidJSON,
			`[]`: schema.InvalidRequest,
			strings.Replace(good, `"ref_id"`, `"ref"`, 1):                     schema.InvalidRequest,
			strings.Replace(good, `20`, `"20"`, 1):                            schema.InvalidRequest,
			strings.Replace(good, `20`, `1e400`, 1):                           schema.InvalidAmount,
			strings.Replace(good, `20`, `5`, 1):                               schema.AmountNotSupported,
			strings.Replace(good, `prepaid`, `postpaid`, 1):                   schema.UnsupportedType,
			strings.Replace(good, `auto`, `Vodaphone`, 1):                     schema.UnknownOperator,
			strings.Replace(good, `prepaid`, `dth`, 1):                        schema.OperatorNotDetected,
			strings.Replace(good, `"a"`, `"a\n"`, 1):                          schema.InvalidRequest,
			strings.Replace(good, `"a"`, `"`+strings.Repeat("a", 256)+`"`, 1): schema.InvalidRequest,
		} {
			if got := d.sandboxRequest("POST", "/v1/recharge", body); got.TextAt("error.code") != string(want) || got.Status != want.Status() || got.TextAt("status") != "error" {
				t.Errorf("%.100s: got %d %s, want %s", body, got.Status, got.Text, want)
			}
		}
		d.pending.closed.Store(true)
		away := d.liveRequest("POST", "/v1/recharge", strings.Replace(good, "auto", "Airtel", 1))
		away.WantError(t, "no provider available", 503, schema.OperatorUnavailable, "")
		if away.Header.Get("Retry-After") == "" || away.At("error.retryable") != true {
			t.Errorf("no Retry-After: %v %s", away.Header, away.Text)
		}
		if n := d.count(); n != 0 {
			t.Errorf("%d recharges were recorded", n)
		}
	})
}

func TestRefunds(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		id := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "a", "199")).Want(t, "a recharge", 200).TextAt("transaction_id")
		path := "/v1/recharge/" + id + "/refund"
		for body, field := range map[string]string{
			`{"reason":7}`: "reason", `{"reason":""}`: "reason", `{"reason":"a\nb"}`: "reason", `{"reason":"` + strings.Repeat("a", 256) + `"}`: "reason", `[]`: "",
		} {
			d.sandboxRequest("POST", path, body).WantError(t, body, 400, schema.InvalidRequest, field)
		}
		d.liveRequest("POST", path, "").WantError(t, "in the other world", 404, schema.NotFound, "")
		first := d.sandboxRequest("POST", path, `{"reason":"A wrong number."}`)
		got := read[schema.Recharge](t, first, 200)
		switch {
		case got.Status != schema.RechargeRefunded:
			t.Errorf("%s: Status = %v, want %v", first.Text, got.Status, schema.RechargeRefunded)
		case got.Reason != "A wrong number.":
			t.Errorf("%s: Reason = %q, want \"A wrong number.\"", first.Text, got.Reason)
		case got.RefundID == "":
			t.Errorf("%s: RefundID is empty", first.Text)
		case got.RefundedAt == "":
			t.Errorf("%s: RefundedAt is empty", first.Text)
		case got.CompletedAt == "":
			t.Errorf("%s: CompletedAt is empty", first.Text)
		case got.Message != "Recharge of ₹199 for 9000000001 (Airtel, Delhi) was reversed, and its amount is back in the wallet.":
			t.Errorf("%s: Message = %q", first.Text, got.Message)
		}
		if again := d.sandboxRequest("POST", path, `{"reason":"Another."}`); again.Text != first.Text {
			t.Errorf("again: %s, want %s", again.Text, first.Text)
		}
		replay := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "a", "199"))
		if replay.Status != 200 || replay.Text != first.Text || replay.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("the recharge is replayed as %d %s", replay.Status, replay.Text)
		}
		third := "/v1/recharge/" + d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "c", "199")).Want(t, "a third", 200).TextAt("transaction_id") + "/refund"
		keyed := d.sandboxRequest("POST", third, `{"reason":"A wrong number."}`, "Idempotency-Key", "k").Want(t, "a refund with a key", 200)
		same := d.sandboxRequest("POST", third, `{"reason":"A wrong number."}`, "Idempotency-Key", "k").Want(t, "the same again", 200)
		if same.Text != keyed.Text || same.Header.Get("Idempotent-Replayed") != "true" || keyed.Header.Get("Idempotent-Replayed") != "" {
			t.Errorf("a refund with a key again: got %v %s, want %s", same.Header, same.Text, keyed.Text)
		}
		d.sandboxRequest("POST", third, `{"reason":"Another."}`, "Idempotency-Key", "k").WantError(t, "the key with another body", 409, schema.IdempotencyConflict, "Idempotency-Key")
		second := d.sandboxRequest("POST", "/v1/recharge", orderFor("9000000001", "b", "199")).Want(t, "another", 200).TextAt("transaction_id")
		if got := d.sandboxRequest("POST", "/v1/recharge/"+second+"/refund", `{"reason":null}`).Want(t, "without a reason", 200).TextAt("reason"); got == "" {
			t.Error("a refund has no reason")
		}
		// The pending provider does not support refunds.
		pending := d.liveRequest("POST", "/v1/recharge", strings.Replace(orderFor("9876543210", "a", "20"), "auto", "Airtel", 1), "Prefer", "wait=0").Want(t, "live", 202).TextAt("transaction_id")
		d.sendCallback("pending", pending, "done").Want(t, "the pending", 200)
		d.liveRequest("POST", "/v1/recharge/"+pending+"/refund", "").WantError(t, "no refunds", 403, schema.Forbidden, "")
	})
}

// sendCallback sends a callback of the pending provider.
func (d *apiFixture) sendCallback(provider, reference, word string, header ...string) accesstest.Reply {
	d.t.Helper()
	if header == nil {
		header = []string{"X-Password", "sesame"}
	}
	text, err := json.Marshal(map[string]string{"reference": reference, "word": word})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.Client.Do("", "POST", "/callbacks/"+provider, string(text), header...)
}

func TestCallbacks(t *testing.T) {
	t.Parallel()
	eachAPIFixture(t, func(t *testing.T, d *apiFixture) {
		body := strings.Replace(orderFor("9876543210", "a", "20"), "auto", "Airtel", 1)
		id := d.liveRequest("POST", "/v1/recharge", body, "Prefer", "wait=0").Want(t, "a recharge", 202).TextAt("transaction_id")
		d.sendCallback("nobody", id, "done").WantError(t, "no such provider", 404, schema.NotFound, "")
		d.sendCallback("sandbox", id, "done").WantError(t, "one that tells nothing", 404, schema.NotFound, "")
		d.sendCallback("pending", id, "done", "X-Password", "seed").WantError(t, "a lie", 401, schema.SignatureInvalid, "X-Password")
		d.sendCallback("pending", "txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "done").WantError(t, "another reference", 404, schema.NotFound, "")
		d.sendCallback("pending", "\x00", "done").WantError(t, "no reference", 404, schema.NotFound, "")
		d.sendCallback("pending", id, "gibberish").WantError(t, "what cannot be acted upon", 500, schema.InternalError, "")
		d.sendCallback("second", id, "done").WantError(t, "of another provider", 404, schema.NotFound, "")
		if got := d.liveRequest("GET", "/v1/recharge/"+id, "").TextAt("status"); got != "pending" {
			t.Errorf("it is %s", got)
		}
		for _, step := range []struct{ word, state string }{
			{"done", "success"}, {"done", "success"}, {"failed", "success"}, {"back", "refunded"}, {"back", "refunded"}, {"done", "refunded"},
		} {
			if got := d.sendCallback("pending", id, step.word).Want(t, step.word, 200); got.Text != `{"status":"success"}` {
				t.Errorf("%s: got %s", step.word, got.Text)
			}
			if got := d.liveRequest("GET", "/v1/recharge/"+id, "").TextAt("status"); got != step.state {
				t.Errorf("after %s it is %s, want %s", step.word, got, step.state)
			}
		}
		for result, want := range map[string]float64{"taken": 6, "refused": 1, "unknown": 2, "failed": 1} {
			if got := d.metric("vayu_callbacks_total", "provider", "pending", "result", result); got != want {
				t.Errorf("%v callbacks are %s, want %v", got, result, want)
			}
		}
		big := `{"reference":"` + strings.Repeat("x", 65<<10) + `"}`
		d.Client.Do("", "POST", "/callbacks/pending", big).WantError(t, "too large", 413, schema.PayloadTooLarge, "")
		d.Client.Do("", "GET", "/callbacks/pending", "").WantError(t, "another method", 405, schema.MethodNotAllowed, "")
	})
}
