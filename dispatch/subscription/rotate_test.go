package subscription

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// signs returns the secrets that an instance signs with now.
func (s *cacheFixture) signs(id string) []string {
	s.t.Helper()
	if err := s.Fresh(context.Background()); err != nil {
		s.t.Fatal(err)
	}
	return s.Get(id).Secrets(s.Now())
}

// The other instance has refreshed just before the rotation. It refreshes again only
// when it signs.
func TestRotationIsEffectiveAfterReply(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, here, there *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Live]
		made := here.request(key, "POST", "/v1/webhooks", body("secret", `"of my choice"`))
		made.WantError(t, "blanks", 400, schema.InvalidRequest, "secret")
		made = here.request(key, "POST", "/v1/webhooks", body("secret", `"of-my-choice"`)).Want(t, "making", 201)
		id := made.TextAt("id")
		path := "/v1/webhooks/" + id + "/rotate-secret"
		if made.At("secret") != nil || made.TextAt("secret_last4") != "oice" {
			t.Errorf("made: %s", made.Text)
		}
		last := []string{"of-my-choice"}
		for i, c := range []struct {
			body string
			keep bool
		}{{"", true}, {`{"grace_seconds":3600,"secret":null}`, true}, {`{"grace_seconds":0}`, false}, {`{"secret":"another-one"}`, true}, {`{"grace_seconds":null}`, true}} {
			there.refreshNow()
			r := here.request(key, "POST", path, c.body).Want(t, c.body, 200)
			got := there.signs(id)
			newest := r.TextAt("secret")
			if strings.Contains(c.body, "another-one") {
				newest = "another-one"
			}
			want := []string{newest}
			if c.keep {
				want = append(want, last[0])
			}
			if newest == "" {
				t.Fatalf("rotation %d: the reply has no secret: %s", i, r.Text)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("rotation %d, the other instance: %s", i, diff)
			}
			if diff := cmp.Diff(want, here.Get(id).Secrets(here.Now())); diff != "" {
				t.Errorf("rotation %d, this instance: %s", i, diff)
			}
			if r.TextAt("secret_last4") != newest[len(newest)-4:] || (r.At("previous_secret_until") != nil) != c.keep {
				t.Errorf("rotation %d: %s", i, r.Text)
			}
			last = got
		}
	})
}

func TestPreviousSecretSignsDuringGrace(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		s.clock.Set(begun)
		made := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes})
		id, key := made.Webhook.ID, a.Keys[schema.Live]
		var next Made
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) (err error) {
			next, _, err = s.Rotate(tx, a.In(schema.Live), id, Rotation{Grace: time.Minute}, s.Now())
			return err
		})
		s.refreshNow()
		shown := func() any { return s.request(key, "GET", "/v1/webhooks/"+id, "").At("previous_secret_until") }
		s.clock.Advance(time.Minute - time.Microsecond)
		if got := s.Get(id).Secrets(s.Now()); !cmp.Equal(got, []string{next.Secret, made.Secret}) || shown() != "2026-11-21T06:01:00Z" {
			t.Errorf("during the grace: %d secrets, until %v", len(got), shown())
		}
		s.clock.Advance(time.Microsecond)
		if got := s.Get(id).Secrets(s.Now()); !cmp.Equal(got, []string{next.Secret}) || shown() != nil {
			t.Errorf("after the grace: %d secrets, until %v", len(got), shown())
		}
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			_, _, err := s.Rotate(tx, a.In(schema.Live), id, Rotation{Grace: maxGrace}, s.Now())
			return err
		})
		if shown() != "2026-11-28T06:01:00Z" {
			t.Errorf("the longest grace ends %v", shown())
		}
	})
}

func TestRotationReplyIsDelayed(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		id := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		for _, what := range []string{"the first", "the stored one"} {
			began := time.Now()
			s.request(a.Keys[schema.Live], "POST", "/v1/webhooks/"+id+"/rotate-secret", "", "Idempotency-Key", "k").Want(t, what, 200)
			if took := time.Since(began); took < rotateDelay {
				t.Errorf("%s was held back for %s", what, took)
			}
		}
	})
	// Fresh leaves 100 ms for signing.
	if rotateDelay-maxAge < 100*time.Millisecond {
		t.Errorf("a book may be %s old, and a reply is held back for %s", maxAge, rotateDelay)
	}
}

func TestSecretsAreEncryptedAndNotRepeated(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Live]
		made := s.request(key, "POST", "/v1/webhooks", body("", ""), "Idempotency-Key", "k1").Want(t, "making", 201)
		path := "/v1/webhooks/" + made.TextAt("id")
		next := s.request(key, "POST", path+"/rotate-secret", "", "Idempotency-Key", "k2").Want(t, "rotating", 200)
		chosen := s.request(key, "POST", path+"/rotate-secret", `{"secret":"chosen-by-me"}`).Want(t, "choosing", 200)
		later := chosen.Text
		for _, r := range []accesstest.Reply{
			s.request(key, "GET", path, ""), s.request(key, "GET", "/v1/webhooks", ""), s.request(key, "PATCH", path, `{"active":false}`), s.request(key, "POST", path+"/test", ""),
		} {
			later += r.Text
		}
		later += strings.Join(s.audited(a), "\n")
		kept := s.dump()
		if strings.Count(kept, "webhook: ") != 1 || strings.Count(kept, "idempotent_reply: ") != 2 {
			t.Fatalf("the dump shows less than there is:\n%s", kept)
		}
		for what, secret := range map[string]string{"the first": made.TextAt("secret")[6:], "the second": next.TextAt("secret")[6:], "the chosen": "chosen-by-me"} {
			for _, form := range []string{secret, hex.EncodeToString([]byte(secret)), base64.StdEncoding.EncodeToString([]byte(secret))} {
				if strings.Contains(kept, form) {
					t.Errorf("%s is in the store", what)
				}
				if strings.Contains(s.log.String(), form) {
					t.Errorf("%s is in the log", what)
				}
				if strings.Contains(later, form) {
					t.Errorf("%s is in a later reply", what)
				}
			}
		}
		s.request(key, "DELETE", path, "").Want(t, "deleting", 200)
		if n := sqlstoretest.Value[int64](t, s.DB, "SELECT COUNT(*) FROM webhook WHERE LENGTH(secret) > 0 OR previous_secret IS NOT NULL"); n != 0 {
			t.Error("the secrets of a deleted webhook are kept")
		}
	})
}

// dump returns the text of the tables with secrets, bytes both raw and in hex.
func (s *cacheFixture) dump() string {
	s.t.Helper()
	var all strings.Builder
	for table, columns := range map[string]int{"webhook": 15, "idempotent_reply": 7, "audit": 11} {
		err := sqlstore.Each(s.DB.View(context.Background()), func(row sqlstore.Scanner) error {
			values, dest := make([]any, columns), make([]any, columns)
			for i := range values {
				dest[i] = &values[i]
			}
			err := row.Scan(dest...)
			fmt.Fprintf(&all, "%s: %s %x\n", table, values, values)
			return err
		}, "SELECT * FROM "+table)
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return all.String()
}

func TestUnreadableSecretAffectsOnlyItsWebhook(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		live := a.In(schema.Live)
		var made []Made
		for range 8 {
			made = append(made, s.add(Spec{Owner: live, Events: schema.EventTypes}))
		}
		for _, m := range made[1:] {
			sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET secret = $2 WHERE id = $1", m.Webhook.ID, []byte("no sealed value"))
		}
		s.refreshNow()
		if got := s.Get(made[0].Webhook.ID).Secrets(s.Now()); !cmp.Equal(got, []string{made[0].Secret}) {
			t.Errorf("another webhook has %d secrets", len(got))
		}
		bad := made[1].Webhook.ID
		if got := s.Get(bad).Secrets(s.Now()); got != nil {
			t.Errorf("%d secrets, want none", len(got))
		}
		if got := s.matchingIDs(live, schema.EventQuotaWarning); len(got) != 8 { // its deliveries are stored, and wait
			t.Errorf("%q match, want all 8", got)
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_unreadable_secrets"); got != 7 || s.log.Count("a secret cannot be decrypted") != 5 || s.log.Count("more secrets") != 1 {
			t.Errorf("the metric counts %v: %s", got, s.log)
		}
		// A rotation repairs it, although the old secret stays unknown.
		key := a.Keys[schema.Live]
		next := s.request(key, "POST", "/v1/webhooks/"+bad+"/rotate-secret", "").Want(t, "rotating", 200)
		if diff := cmp.Diff([]string{next.TextAt("secret")}, s.Get(bad).Secrets(s.Now())); diff != "" {
			t.Errorf("secrets after the rotation (-want +got):\n%s", diff)
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_unreadable_secrets"); got != 7 {
			t.Errorf("the metric counts %v after the rotation, want 7", got)
		}
		s.request(key, "POST", "/v1/webhooks/"+bad+"/rotate-secret", "").Want(t, "rotating", 200)
		s.request(key, "DELETE", "/v1/webhooks/"+made[2].Webhook.ID, "").Want(t, "deleting", 200)
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_unreadable_secrets"); got != 5 {
			t.Errorf("the metric counts %v, want 5", got)
		}
		if n := len(s.Get(bad).Secrets(s.Now())); n != 2 {
			t.Errorf("%d secrets, want 2", n)
		}
	})
}
