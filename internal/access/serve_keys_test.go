package access_test

import (
	"strings"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/schema"
)

func TestAKeyIsMadeShownUsedAndRevoked(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"name":"Müller & Söhne","allow_list":["127.0.0.1","::ffff:10.1.2.3/104","2001:db8::1/32","127.0.0.1/32"],
			"scopes":["account:read","aqi:read","aqi:read"],"expires_at":"2026-12-01T05:30:00.7+05:30","mode":"live"}`).Want(t, "making", 201)
		key, id := made.TextAt("key"), made.TextAt("data.id")
		if !strings.HasPrefix(key, "sk_live_") {
			t.Fatalf("key = %q, want the prefix sk_live_", key)
		}
		if got, want := made.TextAt("data.prefix"), key[:12]; got != want {
			t.Errorf("prefix = %q, want %q", got, want)
		}
		if got, want := made.TextAt("data.last_four"), key[len(key)-4:]; got != want {
			t.Errorf("last_four = %q, want %q", got, want)
		}
		_, data, _ := strings.Cut(made.Text, `"scopes"`)
		want := `:["aqi:read","account:read"],"allow_list":["127.0.0.1/32","10.0.0.0/8","2001:db8::/32"],"require_signature":false,` +
			`"active":true,"created_at":"2026-11-21T06:00:00Z","expires_at":"2026-12-01T00:00:00Z","revoked_at":null,"last_used_at":null,"rotated_from":null}}`
		if data != want {
			t.Errorf("got  %s\nwant %s", data, want)
		}
		h.do(key, "GET", "/v1/account", "").Want(t, "using it", 200)
		h.do(key, "GET", "/v1/keys/"+id, "").Want(t, "looking at it", 200)
		h.do(key, "DELETE", "/v1/keys/"+id, "").WantError(t, "without the scope", 403, "insufficient_scope", "")
		h.do(h.keys[schema.Sandbox], "DELETE", "/v1/keys/"+id, "").WantError(t, "from the other world", 404, "not_found", "")
		h.do(h.keys[schema.Sandbox], "GET", "/v1/keys/"+id, "").WantError(t, "from the other world", 404, "not_found", "")
		h.do(h.keys[schema.Sandbox], "POST", "/v1/keys/"+id+"/rotate", "").WantError(t, "from the other world", 404, "not_found", "")
		h.clock.Advance(time.Minute)
		first := h.live("DELETE", "/v1/keys/"+id, "").Want(t, "revoking", 200)
		if first.TextAt("data.revoked_at") != "2026-11-21T06:01:00Z" || first.At("data.active") != false {
			t.Errorf("revoked: %s", first.Text)
		}
		h.do(key, "GET", "/v1/account", "").WantError(t, "using a revoked key", 401, "key_revoked", "")
		h.clock.Advance(time.Minute)
		again := h.live("DELETE", "/v1/keys/"+id, "").Want(t, "revoking again", 200)
		if again.Text != strings.Replace(first.Text, `"last_used_at":null`, `"last_used_at":`+lastUsed(again), 1) && again.Text != first.Text {
			t.Errorf("again: %s", again.Text)
		}
		h.live("POST", "/v1/keys/"+id+"/rotate", "").WantError(t, "rotating a revoked key", 400, "invalid_request", "id")
		rows := h.live("GET", "/v1/audit", "").Want(t, "audit", 200)
		if n := strings.Count(rows.Text, `"action":"key.revoke"`); n != 1 {
			t.Errorf("%d rows about one revocation: %s", n, rows.Text)
		}
	})
}

func lastUsed(r accesstest.Reply) string {
	if used := r.TextAt("data.last_used_at"); used != "" {
		return `"` + used + `"`
	}
	return "null"
}

func TestKeysOfOtherAccountsDoNotExist(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		foreign := h.newKey(apikey.Spec{Account: newAccount(t, h.DB, "other")}).Record.ID
		for _, id := range []string{foreign, "key_01ARZ3NDEKTSV4RRFFQ69G5FAV", "key_", "x", "%00", "%FF", strings.Repeat("k", 5000)} {
			h.live("GET", "/v1/keys/"+id, "").WantError(t, id, 404, "not_found", "")
			h.live("DELETE", "/v1/keys/"+id, "").WantError(t, id, 404, "not_found", "")
			h.live("POST", "/v1/keys/"+id+"/rotate", "").WantError(t, id, 404, "not_found", "")
		}
		if list := h.live("GET", "/v1/keys", ""); strings.Contains(list.Text, foreign) {
			t.Errorf("the list shows it: %s", list.Text)
		}
	})
}

func TestAllFaultsOfAKeyRequestAreReported(t *testing.T) {
	t.Parallel()
	cases := []struct {
		body  string
		code  schema.Code
		field string
	}{
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
			h.live("POST", "/v1/keys", c.body).WantError(t, c.body, 400, c.code, c.field)
		}
		h.live("POST", "/v1/keys", `{"mode":"sandbox"}`).WantError(t, "the other mode", 403, "forbidden", "mode")
		h.live("POST", "/v1/keys?dry=1", `{}`).WantError(t, "a parameter", 400, "invalid_request", "dry")
		all := h.live("POST", "/v1/keys", `{"name":"a\u0007","scopes":["x","y"],"allow_list":["z"],"expires_at":"2020-01-01T00:00:00Z","mode":""}`)
		all.WantError(t, "all", 400, "invalid_request", "name")
		var fields []string
		details, _ := all.At("error.details").([]any)
		for _, d := range details {
			fields = append(fields, d.(map[string]any)["field"].(string))
		}
		if got := strings.Join(fields, " "); got != "name scopes.0 scopes.1 allow_list.0 mode expires_at" {
			t.Errorf("got %s", got)
		}
		if list := h.live("GET", "/v1/keys", ""); strings.Count(list.Text, `"id"`) != 1 {
			t.Errorf("something was made: %s", list.Text)
		}
	})
}

func TestKeyDelegatesOnlyItsScopes(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		strong := h.live("POST", "/v1/keys", `{"name":"strong"}`, "Idempotency-Key", "a").Want(t, "making", 201)
		weak := h.live("POST", "/v1/keys", `{"scopes":["keys:manage","aqi:read"]}`).Want(t, "making", 201).TextAt("key")
		h.do(weak, "POST", "/v1/keys", `{}`).WantError(t, "the usual scopes", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"name":"strong"}`, "Idempotency-Key", "a").WantError(t, "another's stored reply", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"scopes":["account:read"]}`).WantError(t, "another scope", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys/"+strong.TextAt("data.id")+"/rotate", "").WantError(t, "a stronger key", 403, "insufficient_scope", "scopes")
		h.do(weak, "POST", "/v1/keys", `{"scopes":["aqi:read"]}`).Want(t, "what it has", 201)
		h.do(weak, "GET", "/v1/keys", "").WantError(t, "reading", 403, "insufficient_scope", "")
	})
}

func TestRotatedKeyWorksDuringGracePeriod(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		old := h.live("POST", "/v1/keys", `{"name":"till","scopes":["account:read"],"allow_list":["127.0.0.0/8"],"require_signature":false}`).Want(t, "making", 201)
		id := old.TextAt("data.id")
		for _, body := range []string{`{"grace_seconds":-1}`, `{"grace_seconds":604801}`, `{"grace_seconds":9223372036854775807}`, `{"grace_seconds":1.5}`, `{"grace_seconds":"1"}`} {
			h.live("POST", "/v1/keys/"+id+"/rotate", body).WantError(t, body, 400, "invalid_request", "grace_seconds")
		}
		next := h.live("POST", "/v1/keys/"+id+"/rotate", `{"grace_seconds":60}`).Want(t, "rotating", 201)
		switch {
		case next.TextAt("data.rotated_from") != id:
			t.Errorf("next.TextAt(\"data.rotated_from\") = %q, want %q", next.TextAt("data.rotated_from"), id)
		case next.TextAt("data.name") != "till":
			t.Errorf("next.TextAt(\"data.name\") = %q, want \"till\"", next.TextAt("data.name"))
		case next.At("data.expires_at") != nil:
			t.Errorf("got %s", next.Text)
		case !strings.Contains(next.Text, `"scopes":["account:read"],"allow_list":["127.0.0.0/8"]`):
			t.Errorf("next.Text = %q, want %q in it", next.Text, `"scopes":["account:read"],"allow_list":["127.0.0.0/8"]`)
		}
		h.clock.Advance(59 * time.Second)
		h.do(old.TextAt("key"), "GET", "/v1/account", "").Want(t, "the old key in its grace", 200)
		h.do(next.TextAt("key"), "GET", "/v1/account", "").Want(t, "the new key", 200)
		// A second rotation with a longer grace period does not extend the old key's life.
		h.live("POST", "/v1/keys/"+id+"/rotate", "").Want(t, "rotating again", 201)
		h.clock.Advance(time.Second)
		h.do(old.TextAt("key"), "GET", "/v1/account", "").WantError(t, "the old key after it", 401, "key_expired", "")
		h.do(next.TextAt("key"), "GET", "/v1/account", "").Want(t, "the new key", 200)
		h.live("POST", "/v1/keys/"+id+"/rotate", "").WantError(t, "rotating an expired key", 400, "invalid_request", "id")
		h.live("POST", "/v1/keys/"+next.TextAt("data.id")+"/rotate", `{"grace_seconds":0}`).Want(t, "without grace", 201)
		h.do(next.TextAt("key"), "GET", "/v1/account", "").WantError(t, "without grace", 401, "key_expired", "")
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
			last = h.live("POST", "/v1/keys", "{}").Want(t, "a key", 201).TextAt("data.id")
		}
		refused := h.live("POST", "/v1/keys", "{}")
		refused.WantError(t, "a fourth", 409, "too_many_keys", "")
		if !strings.Contains(refused.Text, "3 active live keys, and the limit is 3") {
			t.Errorf("the refusal does not name the limit: %s", refused.Text)
		}
		h.do(h.keys[schema.Sandbox], "POST", "/v1/keys", "{}").Want(t, "in the other world", 201)
		h.live("POST", "/v1/keys/"+last+"/rotate", `{"grace_seconds":60}`).WantError(t, "a rotation with grace", 409, "too_many_keys", "")
		next := h.live("POST", "/v1/keys/"+last+"/rotate", `{"grace_seconds":0}`).Want(t, "one without", 201).TextAt("data.id")
		h.live("DELETE", "/v1/keys/"+next, "").Want(t, "revoking", 200)
		h.live("POST", "/v1/keys", `{"expires_at":"`+h.Now().Add(time.Hour).Format(time.RFC3339)+`"}`).Want(t, "in its place", 201)
		h.live("POST", "/v1/keys", "{}").WantError(t, "one more", 409, "too_many_keys", "")
		h.clock.Advance(2 * time.Hour)
		h.live("POST", "/v1/keys", "{}").Want(t, "after one has expired", 201)
	})
}
