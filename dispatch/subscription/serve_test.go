package subscription

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

var begun = time.Date(2026, 11, 21, 6, 0, 0, 0, time.UTC)

func TestWebhookLifecycle(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		s.clock.Set(begun)
		key := a.Keys[schema.Live]
		made := s.request(key, "POST", "/v1/webhooks", `{"url":"https://shop.example.com/hook?a=b","events":["payment.failed","recharge.completed"],"secret":null}`).Want(t, "making", 201)
		id, secret := made.TextAt("id"), made.TextAt("secret")
		if got, want := len(secret), len("whsec_")+43; got != want {
			t.Errorf("the secret %q has %d characters, want %d", secret, got, want)
		}
		if got, want := made.Header.Get("Location"), "/v1/webhooks/"+id; got != want {
			t.Errorf("Location = %q, want %q", got, want)
		}
		const form = `{"status":"success","id":%q,"url":%q,"events":%s,"active":%t,"api_version":"2026-11-01","mode":"live",` +
			`"created_at":"2026-11-21T06:00:00Z","secret_last4":%q,"previous_secret_until":null%s}`
		shown := func(url, events string, active bool, more string) string {
			return fmt.Sprintf(form, id, url, events, active, secret[len(secret)-4:], more)
		}
		const both = `["recharge.completed","payment.failed"]`
		if diff := cmp.Diff(shown("https://shop.example.com/hook?a=b", both, true, `,"secret":"`+secret+`"`), made.Text); diff != "" {
			t.Error(diff)
		}
		path := "/v1/webhooks/" + id
		for _, step := range []struct{ method, body, want string }{
			{"GET", "", shown("https://shop.example.com/hook?a=b", both, true, "")},
			{"PATCH", `{"active":false}`, shown("https://shop.example.com/hook?a=b", both, false, "")},
			{"PATCH", `{"events":["quota.warning"],"active":true,"more":1}`, shown("https://shop.example.com/hook?a=b", `["quota.warning"]`, true, "")},
			{"PATCH", `{"url":"https://till.example.com/"}`, shown("https://till.example.com/", `["quota.warning"]`, true, "")},
			{"PATCH", `{"url":"https://till.example.com/"}`, shown("https://till.example.com/", `["quota.warning"]`, true, "")},
			{"GET", "", shown("https://till.example.com/", `["quota.warning"]`, true, "")},
			{"DELETE", "", `{"status":"success","id":"` + id + `","deleted":true}`},
		} {
			if diff := cmp.Diff(step.want, s.request(key, step.method, path, step.body).Want(t, step.method, 200).Text); diff != "" {
				t.Errorf("%s %s: %s", step.method, step.body, diff)
			}
		}
		for _, method := range []string{"DELETE", "GET"} {
			s.request(key, method, path, "").WantError(t, method, 404, schema.NotFound, "id")
		}
		if list := s.request(key, "GET", "/v1/webhooks", ""); list.Text != `{"status":"success","data":[],"has_more":false,"next_cursor":null}` {
			t.Errorf("the list is %s", list.Text)
		}
		got := s.audited(a)
		want := []string{
			`webhook.create {"events":["recharge.completed","payment.failed"],"host":"shop.example.com"}`, `webhook.update {"active":false}`,
			`webhook.update {"active":true,"events":["quota.warning"]}`, `webhook.update {"host":"till.example.com"}`, `webhook.delete {"host":"till.example.com"}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the audit log: %s", diff)
		}
	})
}

func TestWebhooksOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		other := accesstest.AddTenant(t, s.DB, "two")
		s.refreshNow()
		foreign := s.add(Spec{Owner: other.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		sandbox := s.add(Spec{Owner: a.In(schema.Sandbox), Events: schema.EventTypes}).Webhook.ID
		own := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		key := a.Keys[schema.Live]
		for _, id := range []string{
			foreign, sandbox, "wh_01ARZ3NDEKTSV4RRFFQ69G5FAV", strings.ToLower(own), own + "0", "wh_", "x", "%00", "%FF", strings.Repeat("w", 5000),
		} {
			path := "/v1/webhooks/" + id
			s.request(key, "GET", path, "").WantError(t, id, 404, schema.NotFound, "id")
			s.request(key, "PATCH", path, `{"active":false}`).WantError(t, id, 404, schema.NotFound, "id")
			s.request(key, "DELETE", path, "").WantError(t, id, 404, schema.NotFound, "id")
			s.request(key, "POST", path+"/rotate-secret", "").WantError(t, id, 404, schema.NotFound, "id")
			s.request(key, "POST", path+"/test", "").WantError(t, id, 404, schema.NotFound, "id")
		}
		list := s.request(key, "GET", "/v1/webhooks", "").Want(t, "list", 200)
		if strings.Count(list.Text, `"id"`) != 1 || !strings.Contains(list.Text, own) {
			t.Errorf("the list is %s", list.Text)
		}
		if n := sqlstoretest.Value[int64](t, s.DB, "SELECT COUNT(*) FROM webhook WHERE active = 1 AND deleted_at IS NULL AND previous_secret IS NULL"); n != 3 {
			t.Errorf("%d of 3 are as they were", n)
		}
	})
}

func TestListPages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		var want, got []string
		for range 5 {
			want = append(want, s.add(Spec{Owner: a.In(schema.Sandbox), Events: schema.EventTypes}).Webhook.ID)
		}
		slices.Sort(want) // of two in one millisecond any may be the first
		key, path := a.Keys[schema.Sandbox], "/v1/webhooks?limit=2"
		for {
			list := s.request(key, "GET", path, "").Want(t, path, 200)
			data, _ := list.At("data").([]any)
			for _, w := range data {
				got = append(got, w.(map[string]any)["id"].(string))
			}
			if list.At("has_more") != true {
				break
			}
			path = "/v1/webhooks?limit=2&cursor=" + list.TextAt("next_cursor")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		cursor := strings.TrimPrefix(path, "/v1/webhooks?limit=2&")
		s.request(a.Keys[schema.Live], "GET", "/v1/webhooks?"+cursor, "").WantError(t, "the other world's cursor", 400, schema.InvalidRequest, "cursor")
		s.request(key, "GET", "/v1/webhooks?cursor=x&limit=0", "").WantError(t, "a wrong cursor", 400, schema.InvalidRequest, "limit")
		s.request(key, "GET", "/v1/webhooks?active=true", "").WantError(t, "a filter", 400, schema.InvalidRequest, "active")
	})
}

func TestCreateIsIdempotent(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		const body = `{"url":"https://shop.example.com/hook","events":["quota.warning"]}`
		key := a.Keys[schema.Live]
		first := s.request(key, "POST", "/v1/webhooks", body, "Idempotency-Key", "k").Want(t, "first", 201)
		again := s.request(key, "POST", "/v1/webhooks", body, "Idempotency-Key", "k").Want(t, "again", 201)
		if first.Text != again.Text || again.Header.Get("Idempotent-Replayed") != "true" || again.Header.Get("Location") != first.Header.Get("Location") {
			t.Errorf("got %s %v", again.Text, again.Header)
		}
		path := "/v1/webhooks/" + first.TextAt("id") + "/rotate-secret"
		first = s.request(key, "POST", path, "", "Idempotency-Key", "r").Want(t, "rotating", 200)
		again = s.request(key, "POST", path, "", "Idempotency-Key", "r").Want(t, "again", 200)
		if first.Text != again.Text {
			t.Errorf("got %s, want %s", again.Text, first.Text)
		}
		if got := s.audited(a); len(got) != 2 {
			t.Errorf("the audit log has %v, want two rows", got)
		}
		if got := s.Snapshot().size; got != 1 {
			t.Errorf("%d subscriptions, want 1", got)
		}
	})
}

func TestTestEventGoesToOneWebhook(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Sandbox]
		id := s.add(Spec{Owner: a.In(schema.Sandbox), Events: []schema.EventType{"recharge.failed", "quota.warning"}}).Webhook.ID
		path := "/v1/webhooks/" + id
		s.request(key, "PATCH", path, `{"active":false}`).Want(t, "pausing", 200)
		s.request(key, "POST", path+"/test", "").Want(t, "the first type", 202)
		s.request(key, "POST", path+"/test", `{"type":null}`).Want(t, "the first type", 202)
		last := s.request(key, "POST", path+"/test", `{"type":"quota.warning"}`).Want(t, "another type", 202)
		s.request(key, "POST", path+"/test", `{"type":"payment.failed"}`).WantError(t, "a type of others", 400, schema.InvalidRequest, "type")
		s.request(key, "POST", path+"/test", `{"type":"*"}`).WantError(t, "no type", 422, schema.UnknownEventType, "type")
		s.request(key, "POST", path+"/test", `{"type":""}`).WantError(t, "no type", 422, schema.UnknownEventType, "type")
		s.request(key, "POST", path+"/test", `{"type":7}`).WantError(t, "no text", 400, schema.InvalidRequest, "type")
		s.request(key, "POST", path+"/test?type=quota.warning", "").WantError(t, "a parameter", 400, schema.InvalidRequest, "type")
		events := sqlstoretest.Value[int64](t, s.DB, "SELECT COUNT(*) FROM event WHERE type = 'recharge.failed' AND mode = 'sandbox'")
		var webhook string
		if webhook = sqlstoretest.Value[string](t, s.DB, "SELECT webhook_id FROM delivery WHERE id = $1 AND event_id = $2", last.TextAt("delivery_id"), last.TextAt("event_id")); webhook != id || events != 2 {
			t.Errorf("%d events of the first type, the last went to %s", events, webhook)
		}
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE event RENAME TO event_away")
		s.request(key, "POST", path+"/test", "").WantError(t, "a dispatcher that fails", 500, schema.InternalError, "")
		if got := len(s.audited(a)); got != 0 { // of the live world
			t.Errorf("%d rows in the other world", got)
		}
	})
}

func TestScopeIsRequired(t *testing.T) {
	t.Parallel()
	for _, r := range newFixture(t, nil).Routes() {
		if r.Scope != string(schema.WebhooksManage) {
			t.Errorf("%s %s needs %q", r.Method, r.Path, r.Scope)
		}
	}
}

func TestBacklogReportIsShown(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		id := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		key := a.Keys[schema.Live]
		if r := s.request(key, "GET", "/v1/webhooks/"+id, "").Want(t, "the webhook", 200); strings.Contains(r.Text, "backlog") {
			t.Errorf("there is a backlog before there is one: %s", r.Text)
		}
		sqlstoretest.Exec(t, s.DB, "INSERT INTO webhook_backlog (webhook_id, reached_at, most, failed) VALUES ($1, $2, 100000, 12)", id, begun.UnixMicro())
		for _, path := range []string{"/v1/webhooks/" + id, "/v1/webhooks"} {
			const want = `"backlog":{"limit":100000,"failed":12,"reached_at":"2026-11-21T06:00:00Z"}`
			if r := s.request(key, "GET", path, "").Want(t, path, 200); !strings.Contains(r.Text, want) {
				t.Errorf("%s: got %s, want %s in it", path, r.Text, want)
			}
		}
	})
}
