package subscription

import (
	"strings"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/schema"
)

// keyOf creates a live key of a tenant with webhooks:manage and other scopes.
func (s *cacheFixture) keyOf(a accesstest.Tenant, scopes ...schema.Scope) (key string) {
	s.t.Helper()
	key = accesstest.AddKey(s.t, s.DB, a.In(schema.Live), append(scopes, schema.WebhooksManage)...)
	s.refreshNow()
	return key
}

func TestSubscriptionNeedsReadScopes(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		manage, reader := s.keyOf(a), s.keyOf(a, schema.RechargeRead)
		const path = "/v1/webhooks"
		body := func(event string) string { return `{"url":"https://shop.example.com/hook","events":["` + event + `"]}` }
		refused := func(what, key, method, path, body, event string) {
			t.Helper()
			r := s.request(key, method, path, body)
			r.WantError(t, what, 403, schema.InsufficientScope, "events")
			if !strings.Contains(r.TextAt("error.message"), event) {
				t.Errorf("%s: the message %q does not name %s", what, r.TextAt("error.message"), event)
			}
		}
		for _, event := range schema.EventTypes {
			if event.Scope() == schema.WebhooksManage { // which every caller of the endpoint has
				continue
			}
			refused("making", manage, "POST", path, body(string(event)), string(event))
		}
		refused("making", reader, "POST", path, `{"url":"https://shop.example.com/hook","events":["recharge.failed","verification.failed"]}`, "verification.failed")
		id := s.request(reader, "POST", path, body("recharge.completed")).Want(t, "making", 201).TextAt("id")
		one := path + "/" + id

		refused("adding a type", reader, "PATCH", one, `{"events":["recharge.completed","quota.warning"]}`, "quota.warning")
		refused("adding a type", manage, "PATCH", one, `{"events":["recharge.completed","recharge.failed"]}`, "recharge.failed")
		refused("moving it", manage, "PATCH", one, `{"url":"https://elsewhere.example.com/"}`, "recharge.completed")
		for _, change := range []string{`{"active":false}`, `{"active":true}`, `{"events":["recharge.completed"]}`, `{"url":"https://shop.example.com/hook"}`} {
			s.request(manage, "PATCH", one, change).Want(t, change, 200)
		}
		s.request(reader, "PATCH", one, `{"events":["recharge.failed","payment.failed"],"url":"https://till.example.com/"}`).Want(t, "with the scope", 200)
		s.request(manage, "PATCH", one, `{"events":["payment.failed"]}`).Want(t, "leaving a type out", 200)
	})
}

func TestClearNumbersNeedRechargeScope(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		manage, reader := s.keyOf(a, schema.AccountRead), s.keyOf(a, schema.RechargeRead)
		const path = "/v1/webhooks"
		refused := func(what string, r accesstest.Reply) {
			t.Helper()
			r.WantError(t, what, 403, schema.InsufficientScope, "clear_numbers")
		}
		refused("making", s.request(manage, "POST", path, `{"url":"https://shop.example.com/hook","events":["quota.warning"],"clear_numbers":true}`))
		plain := s.request(reader, "POST", path, `{"url":"https://shop.example.com/hook","events":["recharge.completed"],"clear_numbers":null}`).Want(t, "making", 201)
		if got := plain.At("clear_numbers"); got != nil {
			t.Errorf("not requested: got %v, want none", got)
		}
		one := path + "/" + plain.TextAt("id")
		refused("changing", s.request(manage, "PATCH", one, `{"clear_numbers":true}`))
		s.request(reader, "PATCH", one, `{"clear_numbers":null}`).WantError(t, "null", 400, schema.InvalidRequest, "clear_numbers")
		if got := s.request(reader, "PATCH", one, `{"clear_numbers":true}`).Want(t, "changing", 200).At("clear_numbers"); got != true {
			t.Errorf("changed: got %v, want true", got)
		}
		if got := s.request(manage, "GET", one, "").Want(t, "reading", 200).At("clear_numbers"); got != true {
			t.Errorf("read: got %v, want true", got)
		}
		if sub := s.Get(plain.TextAt("id")); !sub.ClearNumbers {
			t.Error("the book does not know it")
		}
		s.request(manage, "PATCH", one, `{"url":"https://elsewhere.example.com/"}`).WantError(t, "moving it", 403, schema.InsufficientScope, "events")
		s.request(manage, "PATCH", one, `{"clear_numbers":false}`).Want(t, "taking it back", 200)
	})
}
