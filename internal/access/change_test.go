package access_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"vayu/internal/access"
	"vayu/internal/access/accesstest"
	"vayu/internal/access/apikey"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// keyed is a POST with an Idempotency-Key.
func (h *serverFixture) keyed(world schema.World, key, body string) accesstest.Reply {
	h.t.Helper()
	return h.do(h.keys[world], "POST", "/v1/keys", body, "Idempotency-Key", key)
}

// addedKeys counts the keys of both worlds except the first two.
func (h *serverFixture) addedKeys() int {
	h.t.Helper()
	var n int
	if err := h.DB.View(context.Background()).QueryRow("SELECT count(*) FROM api_key").Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n - len(h.keys)
}

func TestARepeatedCallGetsTheSameReplyAndNoSecondEffect(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		first := h.keyed(schema.Live, "order 1", `{"name":"a"}`).Want(t, "first", 201)
		if first.Header.Get("Idempotent-Replayed") != "" {
			t.Error("the first is marked as a replay")
		}
		h.clock.Advance(23 * time.Hour)
		again := h.keyed(schema.Live, "order 1", `{"name":"a"}`).Want(t, "again", 201)
		if again.Text != first.Text || again.Header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("got %s (%q), want %s", again.Text, again.Header.Get("Idempotent-Replayed"), first.Text)
		}
		h.keyed(schema.Live, "order 1", `{"name":"b"}`).WantError(t, "another body", 409, "idempotency_conflict", "Idempotency-Key")
		h.keyed(schema.Live, "order 1", `{"name":"a"} `).WantError(t, "another byte", 409, "idempotency_conflict", "Idempotency-Key")
		h.live("POST", "/v1/keys/"+first.TextAt("data.id")+"/rotate", "", "Idempotency-Key", "order 1").WantError(t, "another path", 409, "idempotency_conflict", "Idempotency-Key")
		if other := h.keyed(schema.Sandbox, "order 1", `{"name":"b"}`).Want(t, "the other world", 201); other.TextAt("data.mode") != "sandbox" {
			t.Errorf("got %s", other.Text)
		}
		if n := h.addedKeys(); n != 2 {
			t.Errorf("%d keys were made, want 2", n)
		}
		h.clock.Advance(time.Hour)
		if later := h.keyed(schema.Live, "order 1", `{"name":"b"}`).Want(t, "a day later", 201); later.Header.Get("Idempotent-Replayed") != "" || later.Text == first.Text {
			t.Errorf("a day later: %s", later.Text)
		}
		if n := h.addedKeys(); n != 3 {
			t.Errorf("%d keys were made, want 3", n)
		}
	})
}

func TestRepeatedRotationIsIdempotent(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		id := h.keyed(schema.Live, "a", `{"expires_at":"2026-11-21T07:00:00Z"}`).Want(t, "making", 201).TextAt("data.id")
		rotate := func() accesstest.Reply {
			return h.live("POST", "/v1/keys/"+id+"/rotate", `{"grace_seconds":10}`, "Idempotency-Key", "b")
		}
		first := rotate().Want(t, "rotating", 201)
		h.clock.Advance(2 * time.Hour) // the old key has ended, and the requested expiry is in the past
		if again := rotate().Want(t, "again", 201); again.Text != first.Text {
			t.Errorf("got %s, want %s", again.Text, first.Text)
		}
		h.keyed(schema.Live, "a", `{"expires_at":"2026-11-21T07:00:00Z"}`).Want(t, "making again", 201)
		if n := h.addedKeys(); n != 2 {
			t.Errorf("%d keys, want 2", n)
		}
	})
}

func TestTheFormOfAnIdempotencyKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		for _, key := range []string{"", strings.Repeat("k", 256), "a\tb", "ä"} {
			h.keyed(schema.Live, key, `{}`).WantError(t, fmt.Sprintf("%.9q", key), 400, "invalid_request", "Idempotency-Key")
		}
		h.live("POST", "/v1/keys", `{}`, "Idempotency-Key", "a", "Idempotency-Key", "a").WantError(t, "twice", 400, "invalid_request", "Idempotency-Key")
		if n := h.addedKeys(); n != 0 {
			t.Errorf("%d keys were made", n)
		}
		h.keyed(schema.Live, strings.Repeat("~", 255), `{}`).Want(t, "the longest", 201)
		h.live("PATCH", "/v1/account", `{"allow_list":[]}`, "Idempotency-Key", "").Want(t, "of no meaning for PATCH", 200)
	})
}

func TestConcurrentIdenticalCallsAreIdempotent(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		const callers = 12
		replies := make([]accesstest.Reply, callers)
		var all sync.WaitGroup
		for i := range replies {
			all.Go(func() { replies[i] = h.keyed(schema.Live, "same", `{"name":"one"}`) })
		}
		all.Wait()
		firsts := 0
		for i, r := range replies {
			if r.Status != 201 || r.Text != replies[0].Text {
				t.Errorf("caller %d got %d %s", i, r.Status, r.Text)
			}
			if r.Header.Get("Idempotent-Replayed") == "" {
				firsts++
			}
		}
		if n := h.addedKeys(); n != 1 || firsts != 1 {
			t.Errorf("%d keys, %d replies that are no replay", n, firsts)
		}
	})
}

func TestAChangeThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		var s *access.Service
		var broken atomic.Bool
		change := func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
			made, entry, err := apikey.Create(tx, s.Cipher, apikey.Spec{Account: c.Account}, s.Now())
			if err == nil && broken.Load() {
				err = errors.New("sk_live_something secret broke")
			}
			return httpapi.Response{Value: map[string]string{"id": made.Record.ID}}, entry, err
		}
		h := newServer(t, db, httpapi.Route{Method: "POST", Path: "/v1/try", Body: httpapi.SmallBody, Handler: func(c *httpapi.Call) (httpapi.Response, error) {
			return s.Change(change)(c)
		}})
		s = h.Service
		count := func() (n int) {
			err := db.View(context.Background()).QueryRow(`SELECT (SELECT count(*) FROM api_key) + (SELECT count(*) FROM audit)
				+ (SELECT count(*) FROM idempotent_reply)`).Scan(&n)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		before := count()
		broken.Store(true)
		failed := h.live("POST", "/v1/try", `{}`, "Idempotency-Key", "k")
		failed.WantError(t, "broken", 500, "internal_error", "")
		if strings.Contains(failed.Text, "broke") || count() != before {
			t.Errorf("%d rows are left: %s", count()-before, failed.Text)
		}
		broken.Store(false)
		first := h.live("POST", "/v1/try", `{}`, "Idempotency-Key", "k").Want(t, "mended", 200)
		if n := count(); n != before+3 {
			t.Errorf("%d rows came, want a key, its audit row and the reply", n-before)
		}
		if again := h.live("POST", "/v1/try", `{}`, "Idempotency-Key", "k"); again.Text != first.Text {
			t.Errorf("got %s, want %s", again.Text, first.Text)
		}
	})
}

func TestPurgeDeletesExpiredRows(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, h *serverFixture) {
		const many = 1203 // more than two groups
		err := h.DB.Update(context.Background(), func(tx *sqlstore.Tx) error {
			for i := range many {
				ends := h.Now().UnixMicro() + int64(i%2)*int64(time.Hour/time.Microsecond)
				if _, err := tx.Exec("INSERT INTO seen_signature (key_id, signature, expires_at) VALUES ('key', $1, $2)", []byte(fmt.Sprint(i)), ends); err != nil {
					return err
				}
				if _, err := tx.Exec(`INSERT INTO idempotent_reply (account_id, mode, key, fingerprint, status, body, expires_at)
					VALUES ($1, 'live', $2, $3, 200, $3, $4)`, h.account, fmt.Sprint(i), []byte{1}, ends); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		left := func() (signatures, replies int) {
			if err := access.PurgeOnce(h.Service, context.Background()); err != nil {
				t.Fatal(err)
			}
			err := h.DB.View(context.Background()).QueryRow("SELECT (SELECT count(*) FROM seen_signature), (SELECT count(*) FROM idempotent_reply)").Scan(&signatures, &replies)
			if err != nil {
				t.Fatal(err)
			}
			return signatures, replies
		}
		for _, step := range []struct {
			pass time.Duration
			left int
		}{{59 * time.Second, many}, {time.Second, many / 2}, {time.Hour, 0}} {
			h.clock.Advance(step.pass)
			if s, r := left(); s != step.left || r != step.left {
				t.Errorf("after %s: %d signatures, %d replies, want %d", step.pass, s, r, step.left)
			}
		}
	})
}
