package access_test

import (
	"strings"
	"testing"
	"time"

	"vayu/internal/access/apikey"
	"vayu/schema"
)

func TestAKeyIsMadeShownUsedAndRevoked(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"name":"Müller & Söhne","allow_list":["127.0.0.1","::ffff:10.1.2.3/104","2001:db8::1/32","127.0.0.1/32"],
			"scopes":["account:read","aqi:read","aqi:read"],"expires_at":"2026-12-01T05:30:00.7+05:30","mode":"live"}`).want(t, "making", 201)
		key, id := made.textAt("key"), made.textAt("data.id")
		if !strings.HasPrefix(key, "sk_live_") {
			t.Fatalf("key = %q, want the prefix sk_live_", key)
		}
		if got, want := made.textAt("data.prefix"), key[:12]; got != want {
			t.Errorf("prefix = %q, want %q", got, want)
		}
		if got, want := made.textAt("data.last_four"), key[len(key)-4:]; got != want {
			t.Errorf("last_four = %q, want %q", got, want)
		}
		_, data, _ := strings.Cut(made.text, `"scopes"`)
		want := `:["aqi:read","account:read"],"allow_list":["127.0.0.1/32","10.0.0.0/8","2001:db8::/32"],"require_signature":false,` +
			`"active":true,"created_at":"2026-11-21T06:00:00Z","expires_at":"2026-12-01T00:00:00Z","revoked_at":null,"last_used_at":null,"rotated_from":null}}`
		if data != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
		h.do(key, "GET", "/v1/account", "").want(t, "using it", 200)
		h.do(key, "GET", "/v1/keys/"+id, "").want(t, "looking at it", 200)
		h.do(key, "DELETE", "/v1/keys/"+id, "").wantError(t, "without the scope", 403, "insufficient_scope", "")
		h.do(h.keys[schema.Sandbox], "DELETE", "/v1/keys/"+id, "").wantError(t, "from the other world", 404, "not_found", "")
		h.do(h.keys[schema.Sandbox], "GET", "/v1/keys/"+id, "").wantError(t, "from the other world", 404, "not_found", "")
		h.do(h.keys[schema.Sandbox], "POST", "/v1/keys/"+id+"/rotate", "").wantError(t, "from the other world", 404, "not_found", "")
		h.pass(time.Minute)
		first := h.live("DELETE", "/v1/keys/"+id, "").want(t, "revoking", 200)
		if first.textAt("data.revoked_at") != "2026-11-21T06:01:00Z" || first.at("data.active") != false {
			t.Errorf("revoked: %s", first.text)
		}
		h.do(key, "GET", "/v1/account", "").wantError(t, "using a revoked key", 401, "key_revoked", "")
		h.pass(time.Minute)
		again := h.live("DELETE", "/v1/keys/"+id, "").want(t, "revoking again", 200)
		if again.text != strings.Replace(first.text, `"last_used_at":null`, `"last_used_at":`+lastUsed(again), 1) && again.text != first.text {
			t.Errorf("again: %s", again.text)
		}
		h.live("POST", "/v1/keys/"+id+"/rotate", "").wantError(t, "rotating a revoked key", 400, "invalid_request", "id")
		rows := h.live("GET", "/v1/audit", "").want(t, "audit", 200)
		if n := strings.Count(rows.text, `"action":"key.revoke"`); n != 1 {
			t.Errorf("%d rows about one revocation: %s", n, rows.text)
		}
	})
}

func lastUsed(r reply) string {
	if used := r.textAt("data.last_used_at"); used != "" {
		return `"` + used + `"`
	}
	return "null"
}

func TestKeysOfOtherAccountsDoNotExist(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		foreign := h.newKey(apikey.Spec{Account: newAccount(t, h.DB, "other")}).Record.ID
		for _, id := range []string{foreign, "key_01ARZ3NDEKTSV4RRFFQ69G5FAV", "key_", "x", "%00", "%FF", strings.Repeat("k", 5000)} {
			h.live("GET", "/v1/keys/"+id, "").wantError(t, id, 404, "not_found", "")
			h.live("DELETE", "/v1/keys/"+id, "").wantError(t, id, 404, "not_found", "")
			h.live("POST", "/v1/keys/"+id+"/rotate", "").wantError(t, id, 404, "not_found", "")
		}
		if list := h.live("GET", "/v1/keys", ""); strings.Contains(list.text, foreign) {
			t.Errorf("the list shows it: %s", list.text)
		}
	})
}

func TestAllFaultsOfAKeyRequestAreReported(t *testing.T) {
	t.Parallel()
	cases := []struct{ body, code, field string }{
		{`{"name":"` + strings.Repeat("ä", 101) + `"}`, "invalid_request", "name"},
		{`{"name":"a\u0000b"}`, "invalid_request", "name"},
		{`{"name":"a\nb"}`, "invalid_request", "name"},
		{`{"name":7}`, "invalid_request", "name"},
		{`{"scopes":[]}`, "invalid_request", "scopes"},
		{`{"scopes":["aqi:read","everything"]}`, "invalid_request", "scopes.1"},
		{`{"scopes":["AQI:READ"]}`, "invalid_request", "scopes.0"},
		{`{"allow_list":["10.0.0.0/8","10.0.0.0/33"]}`, "invalid_request", "allow_list.1"},
		{`{"allow_list":["fe80::1%eth0"]}`, "invalid_request", "allow_list.0"},
		{`{"allow_list":["::ffff:0:0/90"]}`, "invalid_request", "allow_list.0"},
		{`{"allow_list":["example.com"]}`, "invalid_request", "allow_list.0"},
		{`{"allow_list":["1.1.1.1"` + strings.Repeat(`,"1.1.1.1"`, 100) + `]}`, "invalid_request", "allow_list"},
		{`{"expires_at":"tomorrow"}`, "invalid_request", "expires_at"},
		{`{"expires_at":""}`, "invalid_request", "expires_at"},
		{`{"expires_at":"2026-11-21T06:00:00Z"}`, "invalid_request", "expires_at"},
		{`{"mode":"test"}`, "invalid_request", "mode"},
		{`{"name":"a","name":"b"}`, "invalid_json", "name"},
		{`[]`, "invalid_request", ""},
		{`null`, "invalid_request", ""},
		{`{`, "invalid_json", ""},
	}
	eachServer(t, func(t *testing.T, h *serverFixture) {
		for _, c := range cases {
			h.live("POST", "/v1/keys", c.body).wantError(t, c.body, 400, c.code, c.field)
		}
		h.live("POST", "/v1/keys", `{"mode":"sandbox"}`).wantError(t, "the other mode", 403, "forbidden", "mode")
		h.live("POST", "/v1/keys?dry=1", `{}`).wantError(t, "a parameter", 400, "invalid_request", "dry")
		all := h.live("POST", "/v1/keys", `{"name":"a\u0007","scopes":["x","y"],"allow_list":["z"],"expires_at":"2020-01-01T00:00:00Z","mode":""}`)
		all.wantError(t, "all", 400, "invalid_request", "name")
		var fields []string
		details, _ := all.at("error.details").([]any)
		for _, d := range details {
			fields = append(fields, d.(map[string]any)["field"].(string))
		}
		if got := strings.Join(fields, " "); got != "name scopes.0 scopes.1 allow_list.0 mode expires_at" {
			t.Errorf("got %s", got)
		}
		if list := h.live("GET", "/v1/keys", ""); strings.Count(list.text, `"id"`) != 1 {
			t.Errorf("something was made: %s", list.text)
		}
	})
}

func TestKeyDelegatesOnlyItsScopes(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		strong := h.live("POST", "/v1/keys", `{"name":"strong"}`, "Idempotency-Key", "a").want(t, "making", 201)
		weak := h.live("POST", "/v1/keys", `{"scopes":["keys:manage","aqi:read"]}`).want(t, "making", 201).textAt("key")
		h.do(weak, "POST", "/v1/keys", `{}`).wantError(t, "the usual scopes", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"name":"strong"}`, "Idempotency-Key", "a").wantError(t, "another's stored reply", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"scopes":["account:read"]}`).wantError(t, "another scope", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys/"+strong.textAt("data.id")+"/rotate", "").wantError(t, "a stronger key", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"scopes":["aqi:read"]}`).want(t, "what it has", 201)
		h.do(weak, "GET", "/v1/keys", "").wantError(t, "reading", 403, "insufficient_scope", "")
	})
}

func TestRotatedKeyWorksDuringGracePeriod(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		old := h.live("POST", "/v1/keys", `{"name":"till","scopes":["account:read"],"allow_list":["127.0.0.0/8"],"require_signature":false}`).want(t, "making", 201)
		id := old.textAt("data.id")
		for _, body := range []string{`{"grace_seconds":-1}`, `{"grace_seconds":604801}`, `{"grace_seconds":9223372036854775807}`, `{"grace_seconds":1.5}`, `{"grace_seconds":"1"}`} {
			h.live("POST", "/v1/keys/"+id+"/rotate", body).wantError(t, body, 400, "invalid_request", "grace_seconds")
		}
		next := h.live("POST", "/v1/keys/"+id+"/rotate", `{"grace_seconds":60}`).want(t, "rotating", 201)
		switch {
		case next.textAt("data.rotated_from") != id:
			t.Errorf("next.textAt(\"data.rotated_from\") = %q, want %q", next.textAt("data.rotated_from"), id)
		case next.textAt("data.name") != "till":
			t.Errorf("next.textAt(\"data.name\") = %q, want \"till\"", next.textAt("data.name"))
		case next.at("data.expires_at") != nil:
			t.Errorf("got %s", next.text)
		case !strings.Contains(next.text, `"scopes":["account:read"],"allow_list":["127.0.0.0/8"]`):
			t.Errorf("next.text = %q, want %q in it", next.text, `"scopes":["account:read"],"allow_list":["127.0.0.0/8"]`)
		}
		h.pass(59 * time.Second)
		h.do(old.textAt("key"), "GET", "/v1/account", "").want(t, "the old key in its grace", 200)
		h.do(next.textAt("key"), "GET", "/v1/account", "").want(t, "the new key", 200)
		// A second rotation with a longer grace period does not extend the old key's life.
		h.live("POST", "/v1/keys/"+id+"/rotate", "").want(t, "rotating again", 201)
		h.pass(time.Second)
		h.do(old.textAt("key"), "GET", "/v1/account", "").wantError(t, "the old key after it", 401, "key_expired", "")
		h.do(next.textAt("key"), "GET", "/v1/account", "").want(t, "the new key", 200)
		h.live("POST", "/v1/keys/"+id+"/rotate", "").wantError(t, "rotating an expired key", 400, "invalid_request", "id")
		h.live("POST", "/v1/keys/"+next.textAt("data.id")+"/rotate", `{"grace_seconds":0}`).want(t, "without grace", 201)
		h.do(next.textAt("key"), "GET", "/v1/account", "").wantError(t, "without grace", 401, "key_expired", "")
	})
}

// Active keys are limited per account and world. Revoked and expired ones do not count, nor do
// those rotated without grace period.
func TestActiveKeysAreLimited(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		h.Settings.MaxKeys = 3 // each world has one
		var last string
		for range 2 {
			last = h.live("POST", "/v1/keys", "{}").want(t, "a key", 201).textAt("data.id")
		}
		refused := h.live("POST", "/v1/keys", "{}")
		refused.wantError(t, "a fourth", 409, "too_many_keys", "")
		if !strings.Contains(refused.text, "3 active live keys, and the limit is 3") {
			t.Errorf("the refusal does not name the limit: %s", refused.text)
		}
		h.do(h.keys[schema.Sandbox], "POST", "/v1/keys", "{}").want(t, "in the other world", 201)
		h.live("POST", "/v1/keys/"+last+"/rotate", `{"grace_seconds":60}`).wantError(t, "a rotation with grace", 409, "too_many_keys", "")
		next := h.live("POST", "/v1/keys/"+last+"/rotate", `{"grace_seconds":0}`).want(t, "one without", 201).textAt("data.id")
		h.live("DELETE", "/v1/keys/"+next, "").want(t, "revoking", 200)
		h.live("POST", "/v1/keys", `{"expires_at":"`+h.Now().Add(time.Hour).Format(time.RFC3339)+`"}`).want(t, "in its place", 201)
		h.live("POST", "/v1/keys", "{}").wantError(t, "one more", 409, "too_many_keys", "")
		h.pass(2 * time.Hour)
		h.live("POST", "/v1/keys", "{}").want(t, "after one has expired", 201)
	})
}
