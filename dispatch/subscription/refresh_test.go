package subscription

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/internal/testing/fixture"
	"vayu/schema"
)

// ids returns the ids of subscriptions.
func ids(subs []*Subscription) []string {
	out := []string{}
	for _, s := range subs {
		out = append(out, s.ID)
	}
	return out
}

// matchingIDs returns the ids of the subscriptions that get an event.
func (s *cacheFixture) matchingIDs(o schema.Owner, event schema.EventType) []string {
	return ids(s.Snapshot().Matching(o.Account, o.World, event))
}

func TestMatchingByTypeAndWorld(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		other := accesstest.AddTenant(t, s.DB, "two")
		const warned, failed = schema.EventQuotaWarning, schema.EventPaymentFailed
		live, sandbox := a.In(schema.Live), a.In(schema.Sandbox)
		first := s.add(Spec{Owner: live, Events: []schema.EventType{warned}}).Webhook.ID
		paused := s.add(Spec{Owner: live, Events: []schema.EventType{failed, warned}}).Webhook.ID
		deleted := s.add(Spec{Owner: live, Events: []schema.EventType{warned}}).Webhook.ID
		mock := s.add(Spec{Owner: sandbox, Events: []schema.EventType{warned}}).Webhook.ID
		theirs := s.add(Spec{Owner: other.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		s.refreshNow()
		before := s.Snapshot()
		off := false
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			_, _, err := s.Update(tx, live, paused, Patch{Active: &off}, s.Now())
			_, err2 := s.Delete(tx, live, deleted, s.Now())
			return errors.Join(err, err2)
		})
		s.refreshNow()
		for _, c := range []struct {
			name  string
			of    schema.Owner
			event schema.EventType
			want  []string
		}{
			{"two live", live, warned, []string{first, paused}},
			{"one live", live, failed, []string{paused}},
			{"another event", live, schema.EventQuotaExceeded, []string{}},
			{"unknown event", live, "no.such", []string{}},
			{"sandbox", sandbox, warned, []string{mock}},
			{"another event of the sandbox", sandbox, failed, []string{}},
			{"another account", other.In(schema.Live), warned, []string{theirs}},
			{"sandbox of another account", other.In(schema.Sandbox), warned, []string{}},
			{"unknown account", schema.Owner{Account: "acc_none"}, warned, []string{}},
		} {
			t.Run(c.name, func(t *testing.T) {
				slices.Sort(c.want)
				if diff := cmp.Diff(c.want, s.matchingIDs(c.of, c.event)); diff != "" {
					t.Error(diff)
				}
			})
		}
		all := []string{first, paused, deleted}
		slices.Sort(all)
		if diff := cmp.Diff(all, ids(before.Matching(a.ID, schema.Live, warned))); diff != "" {
			t.Errorf("a snapshot has changed: %s", diff)
		}
		switch {
		case s.Get(paused).Active:
			t.Error("Get shows them otherwise: s.Get(paused).Active is true")
		case !s.Get(first).Active:
			t.Error("Get shows them otherwise: s.Get(first).Active is false")
		case s.Get(deleted) != nil:
			t.Error("Get shows a deleted subscription")
		case s.Get("wh_none") != nil:
			t.Errorf("Get shows them otherwise: s.Get(\"wh_none\") = %v, want nil", s.Get("wh_none"))
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_subscriptions"); got != 4 {
			t.Errorf("the metric counts %v subscriptions, want 4", got)
		}
	})
}

func TestChangeReachesOtherInstance(t *testing.T) {
	t.Parallel()
	eachPair(t, func(t *testing.T, here, there *cacheFixture, a accesstest.Tenant) {
		there.start()
		key := a.Keys[schema.Live]
		made := here.request(key, "POST", "/v1/webhooks", body("", "")).Want(t, "making", 201)
		id := made.TextAt("id")
		if sub := here.Get(id); sub == nil || !cmp.Equal(sub.Secrets(here.Now()), []string{made.TextAt("secret")}) {
			t.Errorf("its own instance does not know it with the reply: %+v", sub)
		}
		fixture.Eventually(there.t, "a new webhook", func() bool { return there.Get(id) != nil })
		if diff := cmp.Diff(here.Get(id), there.Get(id), cmp.AllowUnexported(Subscription{})); diff != "" {
			t.Error(diff)
		}
		here.request(key, "DELETE", "/v1/webhooks/"+id, "").Want(t, "deleting", 200)
		if here.Get(id) != nil {
			t.Error("its own instance does not know with the reply that it is deleted")
		}
		fixture.Eventually(there.t, "a deletion", func() bool { return there.Get(id) == nil })
	})
}

func TestFreshRefreshesOldCache(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		ctx := context.Background()
		s.clock.Set(begun)
		s.refreshNow()
		id := s.add(Spec{Owner: a.In(schema.Live), Events: schema.EventTypes}).Webhook.ID
		s.clock.Advance(maxAge - time.Millisecond)
		if err := s.Fresh(ctx); err != nil {
			t.Errorf("a young cache: %v", err)
		}
		if got := s.Get(id); got != nil {
			t.Errorf("a young cache was refreshed, and has %+v", got)
		}
		s.clock.Advance(time.Millisecond)
		if err := s.Fresh(ctx); err != nil {
			t.Errorf("an old cache: %v", err)
		}
		if s.Get(id) == nil {
			t.Errorf("an old cache was not refreshed: Get(%q) is nil", id)
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_look_failures_total"); got != 0 {
			t.Errorf("%v failures", got)
		}
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE webhook_revision RENAME TO away")
		if err := s.Fresh(ctx); err != nil {
			t.Errorf("a young book needs the store: %v", err)
		}
		s.clock.Advance(time.Second)
		for range 2 { // a failure makes nothing young
			if err := s.Fresh(ctx); err == nil {
				t.Error("an old book is good although the store fails")
			}
		}
		if failures, age := fixture.MetricValue(s.t, s.reg, "vayu_webhook_look_failures_total"), fixture.MetricValue(s.t, s.reg, "vayu_webhook_age_seconds"); failures != 2 || age != 1 {
			t.Errorf("%v failures, %v s old", failures, age)
		}
		s.clock.Set(begun.Add(-time.Hour))
		if err := s.Fresh(ctx); err == nil {
			t.Error("a clock that was set back makes a book young")
		}
		ended, end := context.WithCancel(ctx)
		end()
		if err := s.Refresh(ended); err == nil {
			t.Error("a caller who left: got no error")
		}
		if got := fixture.MetricValue(s.t, s.reg, "vayu_webhook_look_failures_total"); got != 3 {
			t.Errorf("%v failures are counted, want 3", got)
		}
	})
}

func TestReplacedStoreIsReadInFull(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s *cacheFixture, a accesstest.Tenant) {
		live := a.In(schema.Live)
		kept := s.add(Spec{Owner: live, Events: schema.EventTypes}).Webhook.ID
		gone := s.add(Spec{Owner: live, Events: schema.EventTypes}).Webhook.ID
		s.refreshNow()
		sqlstoretest.Exec(t, s.DB, "DELETE FROM webhook WHERE id = $1", gone)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook_revision SET n = n - 1")
		s.refreshNow()
		switch {
		case s.Get(gone) != nil:
			t.Errorf("it is still known: s.Get(gone) = %v, want nil", s.Get(gone))
		case !cmp.Equal(s.matchingIDs(live, schema.EventQuotaWarning), []string{kept}):
			t.Errorf("the event matches %v, want %s only", s.matchingIDs(live, schema.EventQuotaWarning), kept)
		case s.Snapshot().size != 1:
			t.Errorf("%d webhooks are known, want 1", s.Snapshot().size)
		}
	})
}

func TestStoreOutageIsRetried(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		s := newFixture(t, db)
		a := accesstest.AddTenant(t, db, "one")
		live := a.In(schema.Live)
		first := s.add(Spec{Owner: live, Events: schema.EventTypes}).Webhook.ID
		sqlstoretest.Exec(t, db, "ALTER TABLE webhook RENAME TO webhook_away")
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		fixture.Eventually(s.t, "the first failure", func() bool { return s.log.Count("for the first time") == 1 })
		sqlstoretest.Exec(t, db, "ALTER TABLE webhook_away RENAME TO webhook")
		if err := s.Ready(ctx); err != nil {
			t.Errorf("it is not ready: %v", err)
		}
		if s.Get(first) == nil {
			t.Errorf("it is ready, and Get(%q) is nil", first)
		}
		sqlstoretest.Exec(t, db, "ALTER TABLE webhook_revision RENAME TO away")
		failed := fixture.MetricValue(s.t, s.reg, "vayu_webhook_look_failures_total")
		fixture.Eventually(s.t, "looks that fail", func() bool { return fixture.MetricValue(s.t, s.reg, "vayu_webhook_look_failures_total") > failed+2 })
		if len(s.matchingIDs(live, schema.EventQuotaWarning)) != 1 {
			t.Error("what was known is forgotten")
		}
		sqlstoretest.Exec(t, db, "ALTER TABLE away RENAME TO webhook_revision")
		second := s.add(Spec{Owner: live, Events: schema.EventTypes}).Webhook.ID
		fixture.Eventually(s.t, "what was made meanwhile", func() bool { return s.Get(second) != nil })
		fixture.Eventually(s.t, "the log", func() bool { return s.log.Count("answers again") == 2 })
		cancel()
		if err := <-ended; err != nil || s.log.Count("does not answer") != 2 {
			t.Errorf("%v: %s", err, s.log)
		}
	})
}
