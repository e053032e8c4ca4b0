package access_test

import (
	"fmt"
	"testing"
	"time"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/internal/access/signature"
	"vayu/schema"
)

// limitedKey creates a key with one limit that it must delegate.
func (h *serverFixture) limitedKey(change func(*apikey.Spec)) apikey.Created {
	h.t.Helper()
	spec := apikey.Spec{Account: h.account, World: schema.Live, Scopes: schema.Scopes}
	change(&spec)
	return h.newKey(spec)
}

func TestKeyCannotCreateWiderKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		ends := h.Now().Add(time.Hour)
		for field, c := range map[string]struct {
			limit        func(*apikey.Spec)
			silent, want string
			good, bad    []string
		}{
			"allow_list": {
				func(k *apikey.Spec) { k.AllowList = []string{"127.0.0.0/8", "2001:db8::/32"} }, `{}`, "[127.0.0.0/8 2001:db8::/32]",
				[]string{`{"allow_list":["127.0.0.1","2001:db8:1::/48"]}`, `{"allow_list":["127.0.0.0/8"]}`, `{"allow_list":null}`},
				[]string{`{"allow_list":[]}`, `{"allow_list":["127.0.0.1","10.0.0.1"]}`, `{"allow_list":["126.0.0.0/7"]}`, `{"allow_list":["0.0.0.0/0"]}`, `{"allow_list":["::/0"]}`},
			},
			"expires_at": {
				func(k *apikey.Spec) { k.ExpiresAt = ends }, `{}`, "2026-11-21T07:00:00Z",
				[]string{`{"expires_at":"2026-11-21T07:00:00Z"}`, `{"expires_at":"2026-11-21T06:59:59Z"}`, `{"expires_at":null}`},
				[]string{`{"expires_at":"2026-11-21T07:00:01Z"}`, `{"expires_at":"9999-12-31T23:59:59Z"}`},
			},
		} {
			limited, free := h.limitedKey(c.limit), h.limitedKey(func(*apikey.Spec) {})
			made := h.do(limited.Key, "POST", "/v1/keys", c.silent).Want(t, field, 201)
			if got := fmt.Sprint(made.At("data." + field)); got != c.want {
				t.Errorf("%s is inherited as %s, want %s", field, got, c.want)
			}
			for _, body := range c.good {
				h.do(limited.Key, "POST", "/v1/keys", body).Want(t, body, 201)
				h.do(free.Key, "POST", "/v1/keys", body).Want(t, body, 201)
			}
			for _, body := range c.bad {
				h.do(limited.Key, "POST", "/v1/keys", body).WantError(t, body, 403, "forbidden", field)
				h.do(free.Key, "POST", "/v1/keys", body).Want(t, body, 201)
			}
			before := h.addedKeys()
			h.do(limited.Key, "POST", "/v1/keys/"+free.Record.ID+"/rotate", "").WantError(t, "rotating a wider key", 403, "forbidden", field)
			if h.addedKeys() != before {
				t.Error("a refused rotation has made a key")
			}
			h.do(free.Key, "GET", "/v1/account", "").Want(t, "which goes on", 200)

			// The stored reply to the same call of another key may contain a wider one.
			h.do(free.Key, "POST", "/v1/keys", c.silent, "Idempotency-Key", field).Want(t, "without limits", 201)
			h.do(limited.Key, "POST", "/v1/keys", c.silent, "Idempotency-Key", field).WantError(t, "its stored reply", 403, "forbidden", field)

			self := "/v1/keys/" + limited.Record.ID + "/rotate"
			next := h.do(limited.Key, "POST", self, "", "Idempotency-Key", "self "+field).Want(t, "rotating itself", 201)
			if got := fmt.Sprint(next.At("data." + field)); got != c.want {
				t.Errorf("after a rotation %s is %s, want %s", field, got, c.want)
			}
			if again := h.do(limited.Key, "POST", self, "", "Idempotency-Key", "self "+field).Want(t, "again", 201); again.Text != next.Text {
				t.Errorf("got %s, want %s", again.Text, next.Text)
			}
		}
	})
}

func TestAKeyThatNeedsSignaturesMakesOnlySuch(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		limited, free := h.limitedKey(func(k *apikey.Spec) { k.RequireSignature = true }), h.limitedKey(func(*apikey.Spec) {})
		signed := func(path, body string) accesstest.Reply {
			h.clock.Advance(time.Millisecond)
			return h.do(limited.Key, "POST", path, body, headerName, signature.Sign(limited.SigningSecret, "POST", path, []byte(body), h.Now()))
		}
		for _, body := range []string{`{}`, `{"require_signature":true}`, `{"require_signature":null}`} {
			if made := signed("/v1/keys", body).Want(t, body, 201); made.At("data.require_signature") != true || made.TextAt("signing_secret") == "" {
				t.Errorf("%s: got %s", body, made.Text)
			}
		}
		signed("/v1/keys", `{"require_signature":false}`).WantError(t, "false", 403, "forbidden", "require_signature")
		signed("/v1/keys/"+free.Record.ID+"/rotate", `{}`).WantError(t, "rotating a wider key", 403, "forbidden", "require_signature")
		if made := h.do(free.Key, "POST", "/v1/keys", `{}`).Want(t, "free", 201); made.At("data.require_signature") != false {
			t.Errorf("got %s", made.Text)
		}
	})
}

// A rotated key ends with its grace period, but may read the stored reply with its successor.
func TestRotatedKeyGetsStoredReply(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		key := h.limitedKey(func(*apikey.Spec) {})
		rotate := func() accesstest.Reply {
			return h.do(key.Key, "POST", "/v1/keys/"+key.Record.ID+"/rotate", `{"grace_seconds":60}`, "Idempotency-Key", "a").Want(t, "rotating", 201)
		}
		first := rotate()
		if first.At("data.expires_at") != nil || rotate().Text != first.Text {
			t.Errorf("got %s", first.Text)
		}
		if made := h.do(key.Key, "POST", "/v1/keys", `{}`).Want(t, "making", 201); made.TextAt("data.expires_at") != "2026-11-21T06:01:00Z" {
			t.Errorf("in its grace it makes %s", made.Text)
		}
		h.live("POST", "/v1/keys", `{"expires_at":"9999-12-31T23:59:59-01:00"}`).WantError(t, "the year 10000", 400, "invalid_request", "expires_at")
	})
}

// TestABoundKeyOnlyNarrowsTheAccount: the account's list applies to other keys too.
func TestABoundKeyOnlyNarrowsTheAccount(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		bound := h.limitedKey(func(k *apikey.Spec) { k.AllowList = []string{"127.0.0.0/8"} })
		free := h.limitedKey(func(*apikey.Spec) {})
		patch := func(key, list string) accesstest.Reply {
			return h.do(key, "PATCH", "/v1/account", `{"allow_list":`+list+`}`)
		}

		patch(bound.Key, `["127.0.0.0/8","10.0.0.0/8"]`).Want(t, "an open account narrowed", 200)
		for _, list := range []string{`[]`, `["0.0.0.0/0"]`, `["127.0.0.0/8","11.0.0.0/8"]`, `["126.0.0.0/7"]`, `["127.0.0.0/8","::/0"]`} {
			patch(bound.Key, list).WantError(t, "widened to "+list, 403, "forbidden", "allow_list")
		}
		patch(bound.Key, `["127.0.0.0/8","10.0.0.0/8"]`).Want(t, "the same list", 200)
		patch(bound.Key, `["127.0.0.1","10.1.0.0/16"]`).Want(t, "a narrower list", 200)
		patch(bound.Key, `["127.0.0.0/8"]`).WantError(t, "its own earlier list", 403, "forbidden", "allow_list")
		patch(free.Key, `[]`).Want(t, "widened by a key without a list", 200)
	})
}

// TestKeyCannotDeleteWiderKey compares scopes and addresses.
func TestKeyCannotDeleteWiderKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		ends := func(by, of apikey.Created) accesstest.Reply {
			return h.do(by.Key, "DELETE", "/v1/keys/"+of.Record.ID, "")
		}
		all := h.limitedKey(func(*apikey.Spec) {})
		few := h.limitedKey(func(k *apikey.Spec) { k.Scopes = []schema.Scope{schema.KeysManage, schema.AQIRead} })
		near := h.limitedKey(func(k *apikey.Spec) { k.AllowList = []string{"127.0.0.0/8"} })

		ends(few, all).WantError(t, "more scopes", 403, "insufficient_scope", "scopes")
		ends(near, all).WantError(t, "every address", 403, "forbidden", "allow_list")
		ends(near, h.limitedKey(func(k *apikey.Spec) { k.AllowList = []string{"10.0.0.1"} })).WantError(t, "another address", 403, "forbidden", "allow_list")
		h.do(few.Key, "POST", "/v1/keys/"+all.Record.ID+"/rotate", "").WantError(t, "rotating more scopes", 403, "insufficient_scope", "scopes")
		h.do(all.Key, "GET", "/v1/account", "").Want(t, "the wider key goes on", 200)

		ends(few, h.limitedKey(func(k *apikey.Spec) { k.Scopes = []schema.Scope{schema.AQIRead} })).Want(t, "fewer scopes", 200)
		ends(near, h.limitedKey(func(k *apikey.Spec) { k.AllowList = []string{"127.0.0.1"} })).Want(t, "fewer addresses", 200)
		ends(near, near).Want(t, "itself", 200)
		ends(all, few).Want(t, "a narrower key", 200)
	})
}
