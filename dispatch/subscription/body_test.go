package subscription

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// body returns the body of a new webhook with another value for one field.
func body(field, value string) string {
	fields := map[string]string{"url": `"https://shop.example.com/hook"`, "events": `["quota.warning"]`, field: value}
	var parts []string
	for _, name := range []string{"url", "events", "secret"} {
		if text := fields[name]; text != "" {
			parts = append(parts, `"`+name+`":`+text)
		}
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func texts(n int, text string) string {
	return `["` + strings.Repeat(text+`","`, n-1) + text + `"]`
}

func allEvents() string { return `["` + schema.Join(schema.EventTypes, `","`) + `"]` }

func TestInvalidWebhooksAreRejected(t *testing.T) {
	t.Parallel()
	cases := []struct {
		body   string
		status int
		code   schema.Code
		field  string
	}{
		{body("url", ""), 400, schema.InvalidRequest, "url"},
		{body("url", "null"), 400, schema.InvalidRequest, "url"},
		{body("url", "7"), 400, schema.InvalidRequest, "url"},
		{body("url", `""`), 422, schema.InvalidWebhookURL, "url"},
		{body("url", `"http://shop.example.com"`), 422, schema.InvalidWebhookURL, "url"},
		{body("url", `"https://metadata.internal/"`), 422, schema.URLNotAllowed, "url"},
		{body("url", `"https://asleep.example.com/"`), 500, schema.InternalError, ""},
		{body("events", ""), 400, schema.InvalidRequest, "events"},
		{body("events", "null"), 400, schema.InvalidRequest, "events"},
		{body("events", "[]"), 400, schema.InvalidRequest, "events"},
		{body("events", `"quota.warning"`), 400, schema.InvalidRequest, "events"},
		{body("events", `[7]`), 400, schema.InvalidRequest, "events.0"},
		{body("events", `{"0":"quota.warning"}`), 400, schema.InvalidRequest, "events"},
		{body("events", `["quota.warning",null]`), 422, schema.UnknownEventType, "events.1"},
		{body("events", `["quota.warning","quota.Warning"]`), 422, schema.UnknownEventType, "events.1"},
		{body("events", `["quota.warning "]`), 422, schema.UnknownEventType, "events.0"},
		{body("events", `["*"]`), 422, schema.UnknownEventType, "events.0"},
		{body("events", `["quota.warning","quota.exceeded","quota.warning"]`), 400, schema.InvalidRequest, "events.2"},
		{body("events", texts(1000, "quota.warning")), 400, schema.InvalidRequest, "events"},
		{body("events", texts(1000, "x")), 400, schema.InvalidRequest, "events"},
		{body("events", strings.TrimSuffix(allEvents(), "]")+`,"x"]`), 400, schema.InvalidRequest, "events"},
		{body("secret", `""`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `"1234567"`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `"`+strings.Repeat("s", 256)+`"`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `"12345678 "`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `"12345678\u0000"`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `"12345678ä"`), 400, schema.InvalidRequest, "secret"},
		{body("secret", `12345678`), 400, schema.InvalidRequest, "secret"},
		{`{"url":"https://a.example.com","url":"https://b.example.com"}`, 400, schema.InvalidJSON, "url"},
		{`[]`, 400, schema.InvalidRequest, ""},
		{`null`, 400, schema.InvalidRequest, ""},
		{`{`, 400, schema.InvalidJSON, ""},
		{`{"url":"` + "\xff" + `"}`, 400, schema.InvalidJSON, ""},
		{``, 400, schema.InvalidRequest, ""},
		{body("url", `"`+strings.Repeat("x", 65<<10)+`"`), 413, schema.PayloadTooLarge, ""},
	}
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Live]
		for _, c := range cases {
			t.Run(fmt.Sprintf("%.120q", c.body), func(t *testing.T) {
				r := s.request(key, "POST", "/v1/webhooks", c.body)
				r.WantError(t, c.body[:min(len(c.body), 100)], c.status, c.code, c.field)
				if r.At("error.details") != nil || len(r.Text) > 1000 {
					t.Errorf("one fault, and %s", r.Text)
				}
			})
		}
		if hint := s.request(key, "POST", "/v1/webhooks", body("events", `["*"]`)); !strings.Contains(hint.Text, "no wildcard") || !strings.Contains(hint.Text, "payment.failed") {
			t.Errorf("no hint: %s", hint.Text)
		}
		if named := s.request(key, "POST", "/v1/webhooks", body("events", `["recharge.done"]`)); !strings.Contains(named.Text, `There is no event type \"recharge.done\".`) || strings.Contains(named.Text, "payment.failed") {
			t.Errorf("the unknown type is not named: %s", named.Text)
		}
		s.request(key, "POST", "/v1/webhooks?dry=1", body("", "")).WantError(t, "a parameter", 400, schema.InvalidRequest, "dry")
		if n := sqlstoretest.Value[int64](t, s.DB, "SELECT COUNT(*) FROM webhook"); n != 0 {
			t.Errorf("%d were made", n)
		}
		if got := s.audited(a); len(got) != 0 {
			t.Errorf("the audit log has %v, want nothing", got)
		}
		byDefault := accesstest.AddKey(t, s.DB, a.In(schema.Live)) // with the default scopes
		s.refreshNow()
		for what, text := range map[string]string{"all types of customers": body("events", `["`+schema.Join(schema.CustomerEventTypes(), `","`)+`"]`), "the longest secret": body("secret", `"`+strings.Repeat("~", 255)+`"`)} {
			s.request(byDefault, "POST", "/v1/webhooks", text).Want(t, what, 201)
		}
	})
}

// fields returns the fields of all faults of a refusal.
func fields(r accesstest.Reply) (all []string) {
	details, _ := r.At("error.details").([]any)
	for _, d := range details {
		all = append(all, d.(map[string]any)["field"].(string))
	}
	return all
}

func TestAllErrorsAreReported(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Live]
		all := s.request(key, "POST", "/v1/webhooks", `{"url":"ftp://x","events":["x","quota.warning","quota.warning"],"secret":"geheim"}`)
		all.WantError(t, "all", 422, schema.InvalidWebhookURL, "url")
		if diff := cmp.Diff([]string{"url", "events.0", "events.2", "secret"}, fields(all)); diff != "" {
			t.Error(diff)
		}
		if strings.Contains(all.Text+s.log.String(), "geheim") {
			t.Errorf("the secret is repeated: %s", all.Text)
		}
		id := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		some := s.request(key, "PATCH", "/v1/webhooks/"+id, `{"url":null,"events":["x"],"active":null,"secret":"geheimnis"}`)
		if diff := cmp.Diff([]string{"url", "events.0", "active", "secret"}, fields(some)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestInvalidChangesAreRejected(t *testing.T) {
	t.Parallel()
	cases := []struct {
		method, path, body string
		status             int
		code               schema.Code
		field              string
	}{
		{"PATCH", "", `{}`, 400, schema.InvalidRequest, ""},
		{"PATCH", "", ``, 400, schema.InvalidRequest, ""},
		{"PATCH", "", `{"Active":true}`, 400, schema.InvalidRequest, ""},
		{"PATCH", "", `{"url":null}`, 400, schema.InvalidRequest, "url"},
		{"PATCH", "", `{"events":null}`, 400, schema.InvalidRequest, "events"},
		{"PATCH", "", `{"active":null}`, 400, schema.InvalidRequest, "active"},
		{"PATCH", "", `{"active":0}`, 400, schema.InvalidRequest, "active"},
		{"PATCH", "", `{"active":"true"}`, 400, schema.InvalidRequest, "active"},
		{"PATCH", "", `{"url":7}`, 400, schema.InvalidRequest, "url"},
		{"PATCH", "", `{"url":"http://x"}`, 422, schema.InvalidWebhookURL, "url"},
		{"PATCH", "", `{"url":"https://asleep.example.com/"}`, 500, schema.InternalError, ""},
		{"PATCH", "", `{"events":[]}`, 400, schema.InvalidRequest, "events"},
		{"PATCH", "", `{"events":{}}`, 400, schema.InvalidRequest, "events"},
		{"PATCH", "", `{"events":["quota.warning",{}]}`, 400, schema.InvalidRequest, "events.1"},
		{"PATCH", "", `{"secret":"12345678"}`, 400, schema.InvalidRequest, "secret"},
		{"PATCH", "", `{"secret":null}`, 400, schema.InvalidRequest, "secret"},
		{"PATCH", "?x=1", `{"active":true}`, 400, schema.InvalidRequest, "x"},
		{"DELETE", "?x=1", ``, 400, schema.InvalidRequest, "x"},
		{"GET", "?x=1", ``, 400, schema.InvalidRequest, "x"},
		{"POST", "/rotate-secret", `{"grace_seconds":-1}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"grace_seconds":604801}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"grace_seconds":9223372036854775807}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"grace_seconds":-9223372036854775808}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"grace_seconds":1.5}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"grace_seconds":"60"}`, 400, schema.InvalidRequest, "grace_seconds"},
		{"POST", "/rotate-secret", `{"secret":""}`, 400, schema.InvalidRequest, "secret"},
		{"POST", "/rotate-secret", `{"secret":"ä5678901"}`, 400, schema.InvalidRequest, "secret"},
		{"POST", "/rotate-secret?x=1", ``, 400, schema.InvalidRequest, "x"},
	}
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		made := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes})
		for _, c := range cases {
			s.request(a.Keys[schema.Live], c.method, "/v1/webhooks/"+made.Webhook.ID+c.path, c.body).WantError(t, c.method+c.path+" "+c.body, c.status, c.code, c.field)
		}
		s.refreshNow()
		sub := s.Get(made.Webhook.ID)
		switch diff := cmp.Diff(schema.EventTypes, sub.Events); {
		case diff != "":
			t.Errorf("it has changed: (-want +got):\n%s", diff)
		case !sub.Active:
			t.Error("it has changed: sub.Active is false")
		case !cmp.Equal(sub.Secrets(s.Now()), []string{made.Secret}):
			t.Errorf("it has changed: %+v", sub)
		}
	})
}

// FuzzBody checks that any body gets a reply of the contract, and that a created
// webhook has the requested values.
func FuzzBody(f *testing.F) {
	for _, text := range []string{
		body("", ""), body("secret", `"12345678"`), body("events", allEvents()), body("events", `["*","*"]`), body("url", `"https://a\u0000b"`),
		`{"url":{},"events":[[]],"active":null,"type":"x","grace_seconds":1e3}`, `{"active":false,"grace_seconds":0}`, "[]", "", `{"events":["quota.warning",]}`,
	} {
		f.Add(text)
	}
	s := newFixture(f, sqlstoretest.SQLite(f))
	a := accesstest.AddTenant(f, s.DB, "one")
	s.refreshNow()
	key := a.Keys[schema.Live]
	kept := "/v1/webhooks/" + s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
	f.Fuzz(func(t *testing.T, text string) {
		s := s.in(t)
		for _, r := range []accesstest.Reply{s.request(key, "PATCH", kept, text), s.request(key, "POST", kept+"/test", text), s.request(key, "POST", "/v1/webhooks", text)} {
			if r.Status >= 500 && !strings.Contains(text, "asleep") {
				t.Fatalf("%q: %d %s", text, r.Status, r.Text)
			}
			if r.Status != 201 {
				continue
			}
			id := r.TextAt("id")
			var sent struct {
				URL    string
				Events []schema.EventType
				Secret *string
			}
			if err := json.Unmarshal([]byte(text), &sent); err != nil {
				t.Fatalf("%q was taken: %v", text, err)
			}
			sub := s.Get(id)
			switch {
			case sub == nil:
				t.Fatalf("%q: sub is nil", text)
			case sub.URL == "":
				t.Fatalf("%q: sub.URL is empty", text)
			case len(sub.Events) != len(sent.Events):
				t.Fatalf("%q: len(sub.Events) = %v, want %v", text, len(sub.Events), len(sent.Events))
			case len(sub.Secrets(s.Now())) != 1:
				t.Fatalf("%q: %+v", text, sub)
			}
			if (sent.Secret == nil) != (r.TextAt("secret") != "") {
				t.Fatalf("%q: a secret was sent: %v; want a reply with a secret if none was: %s", text, sent.Secret != nil, r.Text)
			}
			if sent.Secret != nil && sub.secrets[0] != *sent.Secret {
				t.Fatalf("%q: the secret is %q, want %q", text, sub.secrets[0], *sent.Secret)
			}
			if gone := s.request(key, "DELETE", "/v1/webhooks/"+id, ""); gone.Status != 200 {
				t.Fatal(gone.Text)
			}
		}
	})
}
