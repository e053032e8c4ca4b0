package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"vayu/internal/access/accesstest"
	"vayu/internal/access/signature"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// dump returns the text of every table that internal/access writes, with bytes as they are and in
// hex.
func (h *serverFixture) dump() string {
	h.t.Helper()
	var all strings.Builder
	for table, columns := range map[string]int{
		"setting": 2, "account": 7, "api_key": 17, "api_key_use": 2, "quota_period": 6, "usage_day": 7, "usage_key_day": 9,
		"seen_signature": 3, "idempotent_reply": 7, "audit": 11, "audit_head": 5,
	} {
		err := sqlstore.Each(h.DB.View(context.Background()), func(row sqlstore.Scanner) error {
			values, dest := make([]any, columns), make([]any, columns)
			for i := range values {
				dest[i] = &values[i]
			}
			err := row.Scan(dest...)
			fmt.Fprintf(&all, "%s: %s %x\n", table, values, values)
			return err
		}, "SELECT * FROM "+table)
		if err != nil {
			h.t.Fatal(err)
		}
	}
	return all.String()
}

func TestSecretsAreNotStoredOrLogged(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		made := h.live("POST", "/v1/keys", `{"name":"till","require_signature":true,"scopes":["account:read"]}`, "Idempotency-Key", "k1").Want(t, "making", 201)
		next := h.live("POST", "/v1/keys/"+made.TextAt("data.id")+"/rotate", `{}`, "Idempotency-Key", "k2").Want(t, "rotating", 201)
		key, secret := made.TextAt("key"), made.TextAt("signing_secret")
		replies := made.Text + next.Text // only these replies may contain them
		var later strings.Builder
		signature := signature.Sign(secret, "GET", "/v1/account", nil, h.Now())
		for _, r := range []accesstest.Reply{
			h.do(key, "GET", "/v1/account", "", headerName, signature), h.do(key, "GET", "/v1/account", "", headerName, signature),
			h.do(key+"x", "GET", "/v1/account", ""), h.do(key, "POST", "/v1/keys", key), h.do(key, "GET", "/v1/keys/"+key, ""), h.live("GET", "/v1/keys/"+key, ""),
			h.live("POST", "/v1/keys", `{"name":"a"}`, "Idempotency-Key", "k1"), h.live("GET", "/v1/keys", ""), h.live("GET", "/v1/audit", ""),
			h.live("DELETE", "/v1/keys/"+made.TextAt("data.id"), ""), h.do(key, "GET", "/v1/account", ""),
		} {
			later.WriteString(r.Text)
		}
		kept := h.dump()
		if strings.Count(kept, "key.rotate") != 1 || strings.Count(kept, "idempotent_reply: ") != 2 || strings.Count(kept, "seen_signature: ") != 1 {
			t.Fatalf("the dump shows less than there is:\n%s", kept)
		}
		for what, text := range map[string]string{
			"key": key[12 : len(key)-4], "new key": next.TextAt("key")[12:40], "secret": secret, "new secret": next.TextAt("signing_secret"),
			"first key": h.keys[schema.Live][12:40],
		} {
			if what != "first key" && !strings.Contains(replies, text) {
				t.Fatalf("%s is not in the replies", what)
			}
			for form, form2 := range map[string]string{"text": text, "hex": hex.EncodeToString([]byte(text)), "base64": base64.StdEncoding.EncodeToString([]byte(text))} {
				if strings.Contains(kept, form2) {
					t.Errorf("%s stands in the store as %s", what, form)
				}
				if strings.Contains(h.log.String(), form2) { // even if a client put it into a path
					t.Errorf("%s stands in the log as %s:\n%s", what, form, h.log.String())
				}
				if strings.Contains(later.String(), form2) {
					t.Errorf("%s is stored again as %s", what, form)
				}
			}
		}
		sum := sha256.Sum256([]byte(key))
		if !strings.Contains(kept, hex.EncodeToString(sum[:])) {
			t.Error("the hash of the key is not in the replies")
		}
		for audited := range strings.SplitSeq(kept, "\n") {
			if strings.HasPrefix(audited, "audit: ") && strings.Contains(audited, hex.EncodeToString(sum[:])) {
				t.Error("the hash of the key stands in the audit log")
			}
		}
		if strings.Contains(h.log.String()+later.String(), hex.EncodeToString(sum[:])) {
			t.Error("the reply contains the hash of the key")
		}
	})
}
