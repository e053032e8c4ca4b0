package subscription

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/oklog/ulid/v2"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// seed stores n subscriptions to one event, many rows a statement, and returns their
// ids.
func seed(t testing.TB, db *sqlstore.DB, n int, of func(i int) schema.Owner, events string) (made []string) {
	t.Helper()
	box := accesstest.Cipher(t)
	sqlstoretest.Update(t, db, func(tx *sqlstore.Tx) error {
		made = nil
		first := int64(0)
		if err := tx.QueryRow("UPDATE webhook_revision SET n = n + $1 WHERE id = 1 RETURNING n", n).Scan(&first); err != nil {
			return err
		}
		first -= int64(n)
		for len(made) < n {
			var rows []string
			var args []any
			for len(rows) < 500 && len(made) < n {
				id := idPrefix + ulid.MustNewDefault(begun).String()
				o := of(len(made))
				made = append(made, id)
				var marks []string
				for _, v := range []any{
					id, o.Account, o.World.String(), "https://shop.example.com/" + strconv.Itoa(len(made)), events, 1, "2026-11-01",
					secretColumn.Encrypt(box, []byte("secret-of-"+id), id), "last", begun.UnixMicro(), first + int64(len(made)),
				} {
					args = append(args, v)
					marks = append(marks, "$"+strconv.Itoa(len(args)))
				}
				rows = append(rows, "("+strings.Join(marks, ", ")+")")
			}
			if _, err := tx.Exec(`INSERT INTO webhook (id, account_id, mode, url, events, active, api_version, secret, secret_last4, created_at, revision)
				VALUES `+strings.Join(rows, ", "), args...); err != nil {
				return err
			}
		}
		return nil
	})
	slices.Sort(made) // others make ids at other times meanwhile
	return made
}

func TestLimitOfTenThousandWebhooks(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		key := a.Keys[schema.Live]
		made := seed(t, s.DB, Most-1, func(int) schema.Owner { return a.In(schema.Live) }, "quota.warning payment.failed")
		s.refreshNow()
		last := s.request(key, "POST", "/v1/webhooks", body("", "")).Want(t, "the last", 201)
		s.request(key, "POST", "/v1/webhooks", body("", "")).WantError(t, "one too many", 400, schema.InvalidRequest, "")
		if got := s.request(key, "POST", "/v1/webhooks", body("", "")); !strings.Contains(got.Text, "10000") {
			t.Errorf("the error does not name the limit: %s", got.Text)
		}
		s.request(a.Keys[schema.Sandbox], "POST", "/v1/webhooks", body("", "")).Want(t, "the first of the sandbox", 201)
		if diff := cmp.Diff(slices.Sorted(slices.Values(append(made, last.TextAt("id")))), s.matchingIDs(a.In(schema.Live), schema.EventQuotaWarning)); diff != "" {
			t.Error(diff)
		}
		if sub := s.Get(made[4711]); !cmp.Equal(sub.Secrets(s.Now()), []string{"secret-of-" + made[4711]}) {
			t.Errorf("%+v", sub)
		}
		s.request(key, "DELETE", "/v1/webhooks/"+made[0], "").Want(t, "deleting", 200)
		s.request(key, "POST", "/v1/webhooks", body("", "")).Want(t, "in its place", 201)
		if got := s.matchingIDs(a.In(schema.Live), schema.EventQuotaWarning); len(got) != Most || slices.Contains(got, made[0]) {
			t.Errorf("%d are told", len(got))
		}
		again := newFixture(t, s.DB)
		again.refreshNow()
		if diff := cmp.Diff(s.Snapshot().contents(), again.Snapshot().contents()); diff != "" {
			t.Errorf("read at once and bit by bit: %s", diff)
		}
	})
}

// contents returns the content of a snapshot for comparison.
func (s *Snapshot) contents() map[string][]string {
	out := map[string][]string{"": {fmt.Sprint(s.revision, s.size, s.unreadable)}}
	for of, subs := range s.byAudience.All() {
		out[fmt.Sprint(of)] = ids(subs)
	}
	return out
}

func TestLimitHoldsAcrossInstances(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, here, there *cacheFixture, a accesstest.Tenant) {
		seed(t, here.DB, Most-2, func(int) schema.Owner { return a.In(schema.Live) }, "quota.warning")
		results := make(chan int, 8)
		for i := range 8 {
			go func() {
				results <- []*cacheFixture{here, there}[i%2].request(a.Keys[schema.Live], "POST", "/v1/webhooks", body("", "")).Status
			}()
		}
		got := map[int]int{}
		for range 8 {
			got[<-results]++
		}
		if diff := cmp.Diff(map[int]int{201: 2, 400: 6}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestUnusedRowsArePurged(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		s.clock.Set(begun)
		live := a.In(schema.Live)
		var made []string
		for range 4 {
			made = append(made, s.add(Spec{Owner: live, Events: schema.EventTypes}).Webhook.ID)
		}
		unneeded, needed, young, there := made[0], made[1], made[2], made[3]
		s.request(a.Keys[schema.Live], "POST", "/v1/webhooks/"+needed+"/test", "").Want(t, "a delivery", 202)
		remove := func(id string) {
			sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error { _, err := s.Delete(tx, live, id, s.Now()); return err })
		}
		remove(unneeded)
		remove(needed)
		s.clock.Advance(purgeAfter)
		remove(young)
		s.purgeCounted(context.Background())
		left, err := sqlstore.All(s.DB.View(context.Background()), func(row sqlstore.Scanner) (id string, err error) {
			err = row.Scan(&id)
			return id, err
		}, "SELECT id FROM webhook ORDER BY id")
		want := []string{needed, young, there}
		slices.Sort(want)
		if diff := cmp.Diff(want, left); err != nil || diff != "" {
			t.Error(err, diff)
		}
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE delivery RENAME TO away")
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_purge_failures_total"); got != 0 {
			t.Errorf("%v failures: %s", got, s.log)
		}
		s.purgeCounted(context.Background())
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_purge_failures_total"); got != 1 || s.log.Count("purging deleted") != 1 {
			t.Errorf("a store that fails: %v failures: %s", got, s.log)
		}
	})
}

// BenchmarkChange measures a change among 100,000 subscriptions, of which the account
// has 10,000. It includes the read from SQLite.
func BenchmarkChange(b *testing.B) {
	for name, size := range map[string]int{"of a small account": 0, "of 10,000": 10_000} {
		b.Run(name, func(b *testing.B) {
			s := newFixture(b, sqlstoretest.SQLite(b))
			a, rest := accesstest.AddTenant(b, s.DB, "one"), accesstest.AddTenant(b, s.DB, "rest")
			types := schema.Join(schema.EventTypes, " ")
			id := seed(b, s.DB, max(size, 1), func(int) schema.Owner { return a.In(schema.Live) }, types)[size/2]
			seed(b, s.DB, 100_000-size, func(int) schema.Owner { return rest.In(schema.Live) }, types)
			began := time.Now()
			s.refreshNow()
			first := time.Since(began)
			for b.Loop() {
				b.StopTimer()
				sqlstoretest.Exec(b, s.DB, "UPDATE webhook SET active = 1 - active, revision = (SELECT n + 1 FROM webhook_revision) WHERE id = $1", id)
				sqlstoretest.Exec(b, s.DB, "UPDATE webhook_revision SET n = n + 1")
				b.StartTimer()
				if err := s.Refresh(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(first.Milliseconds()), "ms/first-read")
		})
	}
}

// BenchmarkCreateOnAFullAccount creates a subscription of an account near its limit.
// It counts the active ones, and not the 100,000 deleted ones.
func BenchmarkCreateOnAFullAccount(b *testing.B) {
	s := newFixture(b, sqlstoretest.SQLite(b))
	a := accesstest.AddTenant(b, s.DB, "one")
	mine := func(int) schema.Owner { return a.In(schema.Live) }
	seed(b, s.DB, 100_000, mine, "quota.warning")
	sqlstoretest.Exec(b, s.DB, "UPDATE webhook SET deleted_at = created_at")
	seed(b, s.DB, Most-1, mine, "quota.warning")
	for b.Loop() {
		sqlstoretest.Update(b, s.DB, func(tx *sqlstore.Tx) error { return s.checkLimit(tx, a.In(schema.Live)) })
	}
}

// The limit depends on plan and world. An account above it keeps its subscriptions,
// and the refusal names the limit.
func TestLimitFollowsPlan(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		const body = `{"url":"https://shop.example.com/hook","events":["payment.failed"]}`
		s.Limits = Limits{Sandbox: 2, Plans: map[string]int{"free": 3}, Others: 1}
		for name, c := range map[string]struct {
			plan  string
			world schema.World
			most  int
			says  string
		}{
			"the sandbox":             {"free", schema.Sandbox, 2, "at most 2 webhooks in the sandbox"},
			"a plan":                  {"free", schema.Live, 3, "at most 3 webhooks with the plan free"},
			"a plan that has no name": {"pilot", schema.Live, 1, "at most 1 webhooks with the plan pilot"},
		} {
			t.Run(name, func(t *testing.T) {
				sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
					_, err := tx.Exec("UPDATE account SET plan = $2 WHERE id = $1", a.ID, c.plan)
					if err == nil {
						_, err = tx.Exec("UPDATE webhook SET deleted_at = 1 WHERE account_id = $1", a.ID)
					}
					return err
				})
				key := a.Keys[c.world]
				for range c.most {
					s.request(key, "POST", "/v1/webhooks", body).Want(t, name, 201)
				}
				r := s.request(key, "POST", "/v1/webhooks", body)
				r.WantError(t, name, 400, schema.InvalidRequest, "")
				if !strings.Contains(r.Text, c.says) {
					t.Errorf("the refusal %s does not say %q", r.Text, c.says)
				}
			})
		}
		kept := seed(t, s.DB, 5, func(int) schema.Owner { return a.In(schema.Sandbox) }, "payment.failed")
		s.refreshNow()
		if got := s.matchingIDs(a.In(schema.Sandbox), schema.EventPaymentFailed); len(got) < len(kept) {
			t.Errorf("%d subscriptions are told, want the %d beyond the limit too", len(got), len(kept))
		}
		s.request(a.Keys[schema.Sandbox], "PATCH", "/v1/webhooks/"+kept[0], `{"active":false}`).Want(t, "changing one of too many", 200)
	})
}
