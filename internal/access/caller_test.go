package access_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// The rows are changed without a new revision, so that the cache stays outdated, as between two
// refreshes.
func TestAKeyThatHasEndedInTheStoreChangesNothing(t *testing.T) {
	t.Parallel()
	for code, change := range map[schema.Code]string{
		"key_revoked": "UPDATE api_key SET revoked_at = %d WHERE id = '%s'",
		"key_expired": "UPDATE api_key SET expires_at = %d WHERE id = '%s'",
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			eachServer(t, func(t *testing.T, h *serverFixture) {
				made := h.newKey(apikey.Spec{Account: h.account, World: schema.Live, Scopes: schema.Scopes})
				other := h.newKey(apikey.Spec{Account: h.account, World: schema.Live}).Record.ID
				first := h.do(made.Key, "POST", "/v1/keys", `{"name":"first"}`, "Idempotency-Key", "k").Want(t, "before", 201)
				rows := h.addedKeys()
				sqlstoretest.Exec(t, h.DB, fmt.Sprintf(change, h.Now().UnixMicro(), made.Record.ID))
				for what, call := range map[string][3]string{
					"making": {"POST", "/v1/keys", `{}`}, "rotating": {"POST", "/v1/keys/" + other + "/rotate", ""}, "revoking": {"DELETE", "/v1/keys/" + other, ""},
					"opening": {"PATCH", "/v1/account", `{"allow_list":["127.0.0.0/8"]}`},
				} {
					h.do(made.Key, call[0], call[1], call[2]).WantError(t, what, 401, code, "")
				}
				again := h.do(made.Key, "POST", "/v1/keys", `{"name":"first"}`, "Idempotency-Key", "k")
				again.WantError(t, "the stored reply", 401, code, "")
				if strings.Contains(again.Text, first.TextAt("key")) {
					t.Error("the stored reply is sent")
				}
				if n := h.addedKeys() - rows; n != 0 {
					t.Errorf("%d keys were made", n)
				}
				h.do(made.Key, "GET", "/v1/account", "").Want(t, "reading, until the next look", 200)
			})
		})
	}
}

func TestLocationNamesTheCreatedKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		first := h.keyed(schema.Live, "a", `{}`).Want(t, "making", 201)
		id := first.TextAt("data.id")
		rotate := func() accesstest.Reply {
			return h.live("POST", "/v1/keys/"+id+"/rotate", "", "Idempotency-Key", "b").Want(t, "rotating", 201)
		}
		for what, r := range map[string]accesstest.Reply{"first": first, "again": h.keyed(schema.Live, "a", `{}`), "rotated": rotate(), "rotated again": rotate()} {
			place := r.Header.Get("Location")
			if place != "/v1/keys/"+r.TextAt("data.id") {
				t.Errorf("%s: Location is %q", what, place)
			}
			if shown := h.live("GET", place, "").Want(t, what, 200); shown.TextAt("data.id") != r.TextAt("data.id") {
				t.Errorf("%s: got %s", what, shown.Text)
			}
		}
	})
}

func TestRotatedKeyKeepsTheExpiry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		const ends = "2026-12-01T00:00:00Z"
		old := h.live("POST", "/v1/keys", `{"expires_at":"`+ends+`"}`).Want(t, "making", 201).TextAt("data.id")
		next := h.live("POST", "/v1/keys/"+old+"/rotate", `{"grace_seconds":60}`).Want(t, "rotating", 201)
		if next.TextAt("data.expires_at") != ends {
			t.Errorf("got %s", next.Text)
		}
		// The old key now ends with its grace period, and so does its successor.
		if late := h.live("POST", "/v1/keys/"+old+"/rotate", "").Want(t, "rotating again", 201); late.TextAt("data.expires_at") != "2026-11-21T06:01:00Z" {
			t.Errorf("got %s", late.Text)
		}
		var made apikey.Created
		err := h.DB.Update(context.Background(), func(tx *sqlstore.Tx) (err error) {
			made, _, err = apikey.Rotate(tx, h.Cipher, next.TextAt("data.id"), 0, 0, h.Now())
			return err
		})
		if err != nil || made.Record.ExpiresAt == nil || *made.Record.ExpiresAt != ends {
			t.Errorf("as the command line does: %+v, %v", made.Record, err)
		}
	})
}
