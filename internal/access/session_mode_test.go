package access_test

import (
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/schema"
)

// A session of a key needs a key of the other mode once, and then switches with its mode only.
func TestASessionOfAKeySwitchesTheMode(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		cookie, id := h.signIn(h.keys[schema.Live])
		mode := func(body string) accesstest.Reply { return h.by(cookie, "POST", "/v1/sessions/current/mode", body) }
		refused := func(what, body string) {
			t.Helper()
			mode(body).WantError(t, what, 400, "invalid_request", "key")
		}
		refused("without a key", `{"mode":"sandbox"}`)
		refused("a key of the same mode", `{"mode":"sandbox","key":"`+h.keys[schema.Live]+`"}`)
		refused("an unknown key", `{"mode":"sandbox","key":"`+apikey.Mint(schema.Sandbox)+`"}`)
		refused("no key at all", `{"mode":"sandbox","key":"\u0000"}`)
		for what, spec := range map[string]apikey.Spec{
			"a key that requires signatures":     {Account: h.account, World: schema.Sandbox, RequireSignature: true},
			"a key that is valid elsewhere only": {Account: h.account, World: schema.Sandbox, AllowList: []string{"203.0.113.0/24"}},
		} {
			refused(what, `{"mode":"sandbox","key":"`+h.newKey(spec).Key+`"}`)
		}
		mode(`{"mode":"test"}`).WantError(t, "an unknown mode", 400, "invalid_request", "mode")
		h.do(h.keys[schema.Live], "POST", "/v1/sessions/current/mode", `{"mode":"sandbox"}`).WantError(t, "a call with a key", 403, "forbidden", "")

		other := h.newKey(apikey.Spec{Account: h.account, World: schema.Sandbox})
		for _, body := range []string{`{"mode":"sandbox","key":"` + other.Key + `"}`, `{"mode":"live"}`, `{"mode":"sandbox"}`, `{"mode":"sandbox"}`} {
			mode(body).Want(t, body, 200)
		}
		refused("an unknown key beside the one of the session", `{"mode":"live","key":"`+apikey.Mint(schema.Live)+`"}`)
		if got := h.by(cookie, "GET", "/v1/sessions/current", "").TextAt("data.mode"); got != "sandbox" {
			t.Errorf("the mode is %q, want sandbox", got)
		}
		// Both keys see the session, and each can end it.
		for _, key := range []string{h.keys[schema.Live], other.Key} {
			if got := h.do(key, "GET", "/v1/sessions", "").At("data").([]any); len(got) != 1 {
				t.Errorf("the key has %d sessions, want 1", len(got))
			}
		}
		h.do(h.keys[schema.Sandbox], "DELETE", "/v1/keys/"+other.Record.ID, "").Want(t, "revoking", 200)
		h.by(cookie, "GET", "/v1/account", "").WantError(t, "after the revocation of its present key", 401, "key_revoked", "")

		cookie, _ = h.signIn(h.keys[schema.Live])
		refused("a revoked key", `{"mode":"sandbox","key":"`+other.Key+`"}`)
		mode(`{"mode":"sandbox","key":"`+h.keys[schema.Sandbox]+`"}`).Want(t, "another key", 200)
		if got := h.do(h.keys[schema.Live], "DELETE", "/v1/sessions", "").At("ended"); got != 2.0 {
			t.Errorf("signing out everywhere ended %v sessions, want %s and the one in the sandbox", got, id)
		}
		h.by(cookie, "GET", "/v1/account", "").WantError(t, "afterwards", 401, "unauthorized", "")
	})
}
