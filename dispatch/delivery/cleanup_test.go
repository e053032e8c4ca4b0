package delivery_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestDeliveriesOfDeletedWebhookAreCancelled(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		webhook, other := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		waiting, leased, delivered := s.delivery(schema.Live, webhook), s.delivery(schema.Live, webhook), s.finished(schema.Live, webhook, 200)
		paused := s.delivery(schema.Live, other)
		record(t, s.DB, s.Now(), outcome(&waiting, "token", 500, s.Now()))
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = $1 WHERE id = $2", s.Now().UnixMicro(), webhook)
		states := func() map[string]string {
			got := map[string]string{}
			for id, d := range table(t, s.DB) {
				got[id] = d.State
			}
			return got
		}
		want := map[string]string{waiting.ID: "cancelled", leased.ID: "waiting", delivered.ID: "delivered", paused.ID: "waiting"}
		for range 2 {
			if err := s.CancelDeleted(t.Context(), s.Now().Add(-time.Minute)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, states()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			want[leased.ID] = "cancelled"
			s.advance(time.Minute) // the lease has expired
		}
		if got := s.counter("vayu_deliveries_cancelled_total"); got != 2 {
			t.Errorf("counted %v, want 2", got)
		}
		if stale := record(t, s.DB, s.Now(), outcome(&leased, "token", 200, s.Now())); stale != 1 {
			t.Error("a cancelled delivery was delivered")
		}
		late := s.delivery(schema.Live, webhook)
		record(t, s.DB, s.Now(), outcome(&late, "token", 500, s.Now()))
		s.advance(time.Hour)
		if err := s.CancelDeleted(t.Context(), s.Now().Add(-time.Minute)); err != nil {
			t.Errorf("cancelling what was deleted within a minute: %v", err)
		}
		if got := states()[late.ID]; got != "waiting" {
			t.Errorf("a delivery of a webhook that was deleted earlier is %q, want waiting", got)
		}
	})
}

func TestCleanupOfSeveralGroups(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		insertWaiting(t, s.DB, 1200, 2)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1 WHERE id = 'wh_000000000000000001000000001'")
		sqlstoretest.Exec(t, s.DB, `INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
			SELECT id, 1, 1, 1, 'status', 500, '', $1, 1 FROM delivery`, []byte{})
		s.advance(time.Hour) // some of the rows of insertWaiting are due later
		if err := s.CancelDeleted(t.Context(), time.Time{}); err != nil {
			t.Fatal(err)
		}
		if n := queryValue[int](t, s.DB, "SELECT count(*) FROM delivery WHERE state = 'cancelled'"); n != 600 {
			t.Errorf("%d were cancelled, want 600", n)
		}
		for _, c := range []struct {
			pass time.Duration
			left int
		}{{30*24*time.Hour - time.Second, 1200}, {time.Second, 600}, {time.Hour, 600}} {
			s.advance(c.pass)
			if err := s.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
			for _, table := range []string{"delivery", "attempt"} {
				if n := queryValue[int](t, s.DB, "SELECT count(*) FROM "+table); n != c.left {
					t.Errorf("after %s %d rows are left in %s, want %d", c.pass, n, table, c.left)
				}
			}
		}
		if got := s.counter("vayu_deliveries_purged_total"); got != 600 {
			t.Errorf("counted %v, want 600", got)
		}
	})
}

// The store fails for a while.
func TestRunCleansUpDespiteStoreErrors(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		webhook := s.webhook(schema.Live, 1)
		r := s.delivery(schema.Live, webhook)
		record(t, s.DB, s.Now(), outcome(&r, "token", 500, s.Now()))
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1")
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.Run(ctx) }()
		for s.counter("vayu_deliveries_cancelled_total") < 1 && ctx.Err() == nil {
			sqlstoretest.Exec(t, s.DB, "SELECT 1")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		sqlstoretest.Exec(t, s.DB, "DROP TABLE attempt")
		sqlstoretest.Exec(t, s.DB, "ALTER TABLE delivery RENAME TO gone")
		ctx, stop = context.WithCancel(t.Context())
		go func() { ended <- s.Run(ctx) }()
		for s.counter("vayu_deliveries_cleaning_failures_total") < 1 && ctx.Err() == nil {
			sqlstoretest.Exec(t, s.DB, "SELECT 1")
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestCleanupUsesIndexes(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		insertWaiting(t, s.DB, 20_000, 1000)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1 WHERE id < 'wh_000000000000000001000000005'")
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET state = 'delivered', finished_at = due_at WHERE due_at % 2 = 0")
		sqlstoretest.Exec(t, s.DB, `INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
			SELECT id, 1, 1, 1, 'status', 500, '', $1, due_at FROM delivery`, []byte{})
		sqlstoretest.Exec(t, s.DB, "ANALYZE")
		for query, c := range map[string]struct {
			args []any
			want []string
		}{
			delivery.SelectOrphaned: {[]any{0, 1}, []string{"webhook_deleted", "delivery_due"}},
			delivery.CancelOrphans:  {[]any{"wh", 1, 500}, []string{"delivery_due"}},
			delivery.SelectOver:     {[]any{1, 500}, []string{"delivery_finished"}},
			delivery.SelectCopied:   {[]any{1, 2, 500}, []string{"attempt_recorded"}},
		} {
			wantPlan(t, s.DB, query, c.args, c.want...)
		}
	})
}
