package wallet

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/schema"
)

const topups = "/v1/wallet/topups"

func TestSandboxPaymentSucceedsImmediately(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key := s.key(schema.Sandbox)
		r := s.Do(key, "POST", topups, `{"amount":500.50,"ref_id":"topup-1"}`).Want(t, "a payment", 200)
		id := r.TextAt("payment_id")
		want := map[string]any{
			"payment_id": id, "amount": 500.5, "currency": "INR", "method": "upi", "purpose": "wallet_topup", "status": "success",
			"message": "₹500.50 is in the wallet.", "ref_id": "topup-1", "balance": 500.5,
			"created_at": "2026-11-20T12:00:00Z", "completed_at": "2026-11-20T12:00:00Z",
		}
		if diff := cmp.Diff(want, r.Body); diff != "" || r.Header.Get("Location") != topups+"/"+id {
			t.Errorf("%s: %s", r.Header.Get("Location"), diff)
		}
		if shown := s.Do(key, "GET", topups+"/"+id, "").Want(t, "it", 200); !cmp.Equal(shown.Body, r.Body) {
			t.Errorf("it is shown as %s", shown.Text)
		}
		second := s.Do(key, "POST", topups, `{"amount":1e1,"method":"card"}`).Want(t, "another", 200)
		if second.At("balance") != 510.5 || second.At("ref_id") != nil {
			t.Errorf("the second: %s", second.Text)
		}
		wallet := s.Do(key, "GET", "/v1/wallet", "").Want(t, "the wallet", 200)
		if diff := cmp.Diff(map[string]any{"status": "success", "currency": "INR", "available": 510.5, "held": 0.0, "balance": 510.5}, wallet.Body); diff != "" {
			t.Error(diff)
		}
		events := s.Do(key, "GET", "/v1/events?type=payment.succeeded", "").Want(t, "the events", 200)
		if strings.Count(events.Text, `"payment.succeeded"`) != 2 || !strings.Contains(events.Text, `"balance":500.5,"completed_at":"2026-11-20T12:00:00Z"`) {
			t.Errorf("the events: %s", events.Text)
		}
		audit := s.Do(key, "GET", "/v1/audit", "").Want(t, "the audit log", 200)
		if strings.Count(audit.Text, `"payment.success"`) != 2 || !strings.Contains(audit.Text, `"amount":500.5`) {
			t.Errorf("the audit log: %s", audit.Text)
		}
		if got := s.metric(t, "vayu_wallet_payments_total", "world", "sandbox", "outcome", "success"); got != 2 {
			t.Errorf("%v were counted", got)
		}
		for _, other := range []string{s.key(schema.Live), s.two.Keys[schema.Sandbox]} {
			s.Do(other, "GET", topups+"/"+id, "").WantError(t, "another's", 404, schema.NotFound, "id")
			if r := s.Do(other, "GET", "/v1/wallet", ""); r.At("balance") != 0.0 {
				t.Errorf("another's wallet: %s", r.Text)
			}
		}
		wantConsistent(t, s.DB)
	})
}

func TestSandboxAmountOfThirteenFails(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key := s.key(schema.Sandbox)
		s.Do(key, "POST", topups, `{"amount":7}`).Want(t, "a payment", 200)
		const body = `{"amount":99.13,"ref_id":"bad"}`
		r := s.Do(key, "POST", topups, body).Want(t, "one that fails", 502)
		id := r.TextAt("payment_id")
		switch {
		case r.TextAt("status") != "failed":
			t.Errorf("%s: r.TextAt(\"status\") = %q, want \"failed\"", r.Text, r.TextAt("status"))
		case r.TextAt("error.code") != "bank_network_error":
			t.Errorf("%s: r.TextAt(\"error.code\") = %q, want \"bank_network_error\"", r.Text, r.TextAt("error.code"))
		case r.TextAt("message") == "":
			t.Errorf("%s: r.TextAt(\"message\") is empty", r.Text)
		case r.TextAt("error.request_id") != r.Header.Get("X-Request-Id"):
			t.Errorf("%s: r.TextAt(\"error.request_id\") = %q, want %q", r.Text, r.TextAt("error.request_id"), r.Header.Get("X-Request-Id"))
		case r.At("error.retryable") != false:
			t.Errorf("%s: r.At(\"error.retryable\") = %v, want %v", r.Text, r.At("error.retryable"), false)
		case r.At("balance") != 7.0:
			t.Errorf("%s: r.At(\"balance\") = %v, want 7.0", r.Text, r.At("balance"))
		}
		again := s.Do(key, "POST", topups, body).Want(t, "it again", 502)
		if again.Header.Get("Idempotent-Replayed") != "true" || again.TextAt("payment_id") != id {
			t.Errorf("again: %s", again.Text)
		}
		shown := s.Do(key, "GET", topups+"/"+id, "").Want(t, "it", 200)
		if shown.TextAt("status") != "failed" || shown.At("error.request_id") != nil {
			t.Errorf("it is shown as %s", shown.Text)
		}
		events := s.Do(key, "GET", "/v1/events?type=payment.failed", "").Want(t, "the events", 200)
		if strings.Count(events.Text, `"payment.failed"`) != 1 || !strings.Contains(events.Text, id) || strings.Contains(events.Text, "request_id") {
			t.Errorf("the events: %s", events.Text)
		}
		if audit := s.Do(key, "GET", "/v1/audit", ""); strings.Count(audit.Text, `"payment.failed"`) != 1 {
			t.Errorf("the audit log: %s", audit.Text)
		}
		if got := s.metric(t, "vayu_wallet_payments_total", "world", "sandbox", "outcome", "failed"); got != 1 {
			t.Errorf("%v were counted", got)
		}
		wantBalance(t, s.DB, "afterwards", s.one.In(schema.Sandbox), Balance{Available: 700})
		wantConsistent(t, s.DB)
	})
}

func TestReferenceIsIdempotent(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key := s.key(schema.Sandbox)
		const body = `{"amount":5,"ref_id":"🙏 १"}`
		first := s.Do(key, "POST", topups, body).Want(t, "first", 200)
		for _, same := range []string{body, `{"amount":5.00,"method":"upi","ref_id":"🙏 १"}`, `{"ref_id":"🙏 १","amount":0.5e1,"method":null}`} {
			again := s.Do(key, "POST", topups, same).Want(t, "again", 200)
			if !cmp.Equal(again.Body, first.Body) || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("%s: %s", same, again.Text)
			}
		}
		for _, other := range []string{`{"amount":6,"ref_id":"🙏 १"}`, `{"amount":5,"method":"card","ref_id":"🙏 १"}`} {
			s.Do(key, "POST", topups, other).WantError(t, other, 409, schema.DuplicateRefID, "ref_id")
		}
		if got := s.metric(t, "vayu_wallet_refusals_total", "code", "duplicate_ref_id"); got != 2 {
			t.Errorf("%v refusals were counted", got)
		}
		s.Do(s.two.Keys[schema.Sandbox], "POST", topups, `{"amount":6,"ref_id":"🙏 १"}`).Want(t, "another account's", 200)
		s.Do(s.key(schema.Live), "POST", topups, `{"amount":6,"ref_id":"🙏 १"}`).Want(t, "the other world's", 202)

		keyed := s.Do(key, "POST", topups, `{"amount":8}`, "Idempotency-Key", "k").Want(t, "with a key", 200)
		again := s.Do(key, "POST", topups, `{"amount":8}`, "Idempotency-Key", "k").Want(t, "with a key again", 200)
		if again.Text != keyed.Text || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("with a key again: %s", again.Text)
		}
		wantBalance(t, s.DB, "afterwards", s.one.In(schema.Sandbox), Balance{Available: 1300})
		if got := s.metric(t, "vayu_wallet_payments_total", "world", "sandbox"); got != 3 {
			t.Errorf("%v were counted", got)
		}
		wantConsistent(t, s.DB)
	})
}

func TestConcurrentReferenceHasOneEffect(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		var together sync.WaitGroup
		var mu sync.Mutex
		ids, replayed := map[string]int{}, 0
		for range 100 {
			together.Go(func() {
				r := s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":5,"ref_id":"r"}`)
				mu.Lock()
				defer mu.Unlock()
				ids[r.TextAt("payment_id")]++
				if r.Header.Get("Idempotent-Replayed") == "true" {
					replayed++
				}
			})
		}
		together.Wait()
		if len(ids) != 1 || replayed != 99 {
			t.Errorf("got the payments %v, %d of them repetitions", ids, replayed)
		}
		wantBalance(t, s.DB, "afterwards", s.one.In(schema.Sandbox), Balance{Available: 500})
		wantConsistent(t, s.DB)
	})
}

func TestInvalidPaymentsAreRefused(t *testing.T) {
	t.Parallel()
	const amount = "amount"
	cases := []struct {
		body   string
		status int
		code   schema.Code
		field  string
	}{
		{`{}`, 400, schema.InvalidRequest, amount},
		{`{"amount":null}`, 400, schema.InvalidRequest, amount},
		{`{"amount":"199"}`, 400, schema.InvalidRequest, amount},
		{`{"amount":[1]}`, 400, schema.InvalidRequest, amount},
		{`{"amount":१}`, 400, schema.InvalidJSON, ""},
		{`{"amount":0}`, 422, schema.InvalidAmount, amount},
		{`{"amount":-1}`, 422, schema.InvalidAmount, amount},
		{`{"amount":0.99}`, 422, schema.InvalidAmount, amount},
		{`{"amount":1.001}`, 422, schema.InvalidAmount, amount},
		{`{"amount":1000000.01}`, 422, schema.InvalidAmount, amount},
		{`{"amount":1e400}`, 422, schema.InvalidAmount, amount},
		{`{"amount":1e999999999}`, 422, schema.InvalidAmount, amount},
		{`{"amount":9007199254740993}`, 422, schema.InvalidAmount, amount},
		{`{"amount":5,"amount":6}`, 400, schema.InvalidJSON, amount},
		{`{"amount":5,"method":"gold"}`, 400, schema.InvalidRequest, "method"},
		{`{"amount":5,"method":7}`, 400, schema.InvalidRequest, "method"},
		{`{"amount":5,"ref_id":""}`, 400, schema.InvalidRequest, "ref_id"},
		{`{"amount":5,"ref_id":7}`, 400, schema.InvalidRequest, "ref_id"},
		{`{"amount":5,"ref_id":"a\nb"}`, 400, schema.InvalidRequest, "ref_id"},
		{`{"amount":5,"ref_id":"` + strings.Repeat("x", 256) + `"}`, 400, schema.InvalidRequest, "ref_id"},
		{`{"amount":0,"ref_id":""}`, 400, schema.InvalidRequest, "ref_id"}, // what is not understood first
		{``, 400, schema.InvalidRequest, ""},
	}
	eachStore(t, func(t *testing.T, s *walletFixture) {
		key := s.key(schema.Sandbox)
		for _, c := range cases {
			s.Do(key, "POST", topups, c.body).WantError(t, c.body[:min(len(c.body), 60)], c.status, c.code, c.field)
		}
		s.Do(key, "POST", topups+"?x=1", `{"amount":5}`).WantError(t, "a parameter", 400, schema.InvalidRequest, "x")
		for _, path := range []string{"/v1/wallet", topups, topups + "/pay_1", "/v1/wallet/entries"} {
			s.Do(key, "GET", path+"?x=1", "").WantError(t, path, 400, schema.InvalidRequest, "x")
		}
		for query, field := range map[string]string{"status=paid": "status", "ref_id=a%0Ab": "ref_id", "from=x": "from", "limit=0": "limit", "cursor=x": "cursor"} {
			s.Do(key, "GET", topups+"?"+query, "").WantError(t, query, 400, schema.InvalidRequest, field)
		}
		for _, subject := range []string{"", "txn_1", "acc_01KAJ0A6Q3W8Y1B4D7F0H2K5M9", "txn_01KAJ0A6Q3W8Y1B4D7F0H2K5M9%00", "01KAJ0A6Q3W8Y1B4D7F0H2K5M9"} {
			s.Do(key, "GET", "/v1/wallet/entries?subject="+subject, "").WantError(t, subject, 400, schema.InvalidRequest, "subject")
		}
		s.Do(key, "GET", topups+"/%2e", "").WantError(t, "no id", 404, schema.NotFound, "id")
		s.Do(key, "GET", topups+"/pay_1", "").WantError(t, "an id of nothing", 404, schema.NotFound, "id")
		for code, want := range map[schema.Code]float64{schema.InvalidAmount: 8, schema.InvalidJSON: 2} {
			if got := s.metric(t, "vayu_wallet_refusals_total", "code", string(code)); got != want {
				t.Errorf("%s was counted %v times, want %v", code, got, want)
			}
		}
		r := wantConsistent(t, s.DB)
		if r.Payments != 0 {
			t.Errorf("%d payments were made", r.Payments)
		}
	})
}

func TestPaymentLimits(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		for _, amount := range []string{"1", "1.00", "1000000", "1e6"} {
			s.Do(s.key(schema.Sandbox), "POST", topups, `{"amount":`+amount+`}`).Want(t, amount, 200)
		}
		wantBalance(t, s.DB, "afterwards", s.one.In(schema.Sandbox), Balance{Available: 2_000_002_00})
	})
}

// pages reads a list page by page and returns one field of its entries.
func pages(t *testing.T, s *walletFixture, path, field string) (all []string) {
	t.Helper()
	for cursor := ""; ; {
		r := s.Do(s.key(schema.Sandbox), "GET", path+cursor, "").Want(t, path, 200)
		data, _ := r.At("data").([]any)
		for _, one := range data {
			all = append(all, fmt.Sprint(one.(map[string]any)[field]))
		}
		if r.At("has_more") != true {
			return all
		}
		cursor = "&cursor=" + r.TextAt("next_cursor")
	}
}

func TestPaymentsAreListed(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		for i, amount := range []string{"1", "2.13", "3", "4", "5"} {
			s.Do(s.key(schema.Sandbox), "POST", topups, fmt.Sprintf(`{"amount":%s,"ref_id":"r%d"}`, amount, i))
			s.clock.Advance(24 * 3600e9)
		}
		for query, want := range map[string][]string{
			"?limit=2":                               {"5", "4", "3", "2.13", "1"},
			"?status=failed":                         {"2.13"},
			"?status=success&limit=1":                {"5", "4", "3", "1"},
			"?status=pending":                        nil,
			"?ref_id=r2":                             {"3"},
			"?ref_id=none":                           nil,
			"?from=2026-11-21&to=2026-11-22":         {"3", "2.13"},
			"?from=2026-11-22T12:00:00Z&limit=1":     {"5", "4", "3"},
			"?to=2026-11-22T12:00:00Z&status=failed": {"2.13"},
		} {
			if diff := cmp.Diff(want, pages(t, s, topups+query, "amount")); diff != "" {
				t.Errorf("%s: %s", query, diff)
			}
		}
		first := s.Do(s.key(schema.Sandbox), "GET", topups+"?limit=1", "")
		s.Do(s.key(schema.Sandbox), "GET", topups+"?limit=1&status=failed&cursor="+first.TextAt("next_cursor"), "").
			WantError(t, "a cursor of another list", 400, schema.InvalidRequest, "cursor")
	})
}

func TestScopes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *walletFixture) {
		scopes := map[string]string{}
		for _, route := range s.Routes() {
			scopes[route.Method+" "+route.Path] = route.Scope
		}
		want := map[string]string{
			"GET /v1/wallet": "recharge:read", "GET /v1/wallet/entries": "recharge:read", "GET " + topups: "recharge:read",
			"GET " + topups + "/{id}": "recharge:read", "POST " + topups: "recharge:write",
		}
		if diff := cmp.Diff(want, scopes); diff != "" {
			t.Error(diff)
		}
		s.Do("", "GET", "/v1/wallet", "").WantError(t, "without a key", 401, schema.Unauthorized, "")
	})
}
