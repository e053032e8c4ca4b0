package delivery_test

import (
	"context"
	"testing"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// The oldest waiting deliveries beyond the limit fail and can be retried; the account
// sees a report. Deliveries in flight are kept.
func TestOldestDeliveriesBeyondLimitFail(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		s.Backlog = 3
		paused, other := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		var all []delivery.Row
		for i := range 8 {
			s.advance(time.Second)
			all = append(all, s.delivery(schema.Live, paused))
			if i > 0 { // the first attempt is in flight
				sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET token = '', due_at = $2 WHERE id = $1", all[i].ID, s.Now().Add(time.Duration(8-i)*time.Hour).UnixMicro())
			}
		}
		for range 3 {
			s.delivery(schema.Live, other)
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET token = '' WHERE webhook_id = $1", other)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET active = 0 WHERE id = $1", paused)
		if err := s.Bound(t.Context()); err != nil {
			t.Fatal(err)
		}
		for i, d := range all {
			want := schema.DeliveryFailed
			if i == 0 || i > 4 {
				want = schema.DeliveryWaiting
			}
			if got := stateOf(t, s.DB, d.ID); got != want {
				t.Errorf("delivery %d of 8 is %s, want %s", i+1, got, want)
			}
		}
		if n := count(t, s.DB, other, schema.DeliveryWaiting); n != 3 {
			t.Errorf("%d wait for the webhook at its limit, want 3", n)
		}
		if got := s.counter("vayu_deliveries_overflowed_total"); got != 4 {
			t.Errorf("%v are counted, want 4", got)
		}
		backlog := func() (failed, most int64) {
			t.Helper()
			if err := s.DB.View(t.Context()).QueryRow("SELECT COALESCE(sum(failed), 0), COALESCE(max(most), 0) FROM webhook_backlog WHERE webhook_id = $1", paused).Scan(&failed, &most); err != nil {
				t.Fatal(err)
			}
			return failed, most
		}
		if failed, most := backlog(); failed != 4 || most != 3 {
			t.Errorf("the report has %d failed beyond %d, want 4 beyond 3", failed, most)
		}
		do(t, s.DB, func(tx *sqlstore.Tx) error {
			original, err := delivery.LockOriginal(tx, schema.Owner{Account: s.account, World: schema.Live}, all[1].ID, s.Now())
			if err != nil {
				return err
			}
			_, err = s.Retry(tx, schema.Owner{Account: s.account, World: schema.Live}, []delivery.Original{original})
			return err
		})
		s.advance(time.Minute) // the first lease has expired
		if err := s.Bound(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed, _ := backlog(); failed != 6 {
			t.Errorf("the report has %d failed, want 6 with the first and its neighbour", failed)
		}
		s.advance(31 * 24 * time.Hour)
		if err := s.ForgetBacklogs(t.Context()); err != nil {
			t.Fatal(err)
		}
		if failed, _ := backlog(); failed != 0 {
			t.Errorf("after 31 days the report has %d, want 0", failed)
		}
	})
}

// exceedBacklog creates a webhook with five waiting deliveries, of which the limit allows two.
func (s *fixture) exceedBacklog() (webhook string, all []delivery.Row) {
	s.t.Helper()
	s.Backlog = 2
	webhook = s.webhook(schema.Live, 1)
	for range 5 {
		s.advance(time.Second)
		all = append(all, s.delivery(schema.Live, webhook))
	}
	sqlstoretest.Exec(s.t, s.DB, "UPDATE delivery SET token = ''")
	return webhook, all
}

// Pending deliveries to an endpoint that acknowledges are kept, because the service
// itself is late.
func TestOnlyDeadEndpointsAreBounded(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		webhook, all := s.exceedBacklog()
		failed := func(when string, want int) {
			t.Helper()
			if err := s.Bound(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := count(t, s.DB, webhook, schema.DeliveryFailed); got != want {
				t.Errorf("%s: %d of 5 deliveries failed, want %d", when, got, want)
			}
		}
		failed("before the first attempt", 0)
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET attempts = 1 WHERE id = $1", all[1].ID)
		failed("after one failed attempt", 0)
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET attempts = 1, state = 'delivered', finished_at = $2 WHERE id = $1", all[0].ID, s.Now().UnixMicro())
		failed("one acknowledged, one failing", 0)
		s.advance(11 * time.Minute)
		failed("without an acknowledgement for 11 minutes", 2)
	})
}

// An endpoint that works again first acknowledges its oldest deliveries, some of which are older than the newest
// acknowledged one.
func TestAnEndpointThatAcknowledgesOldDeliveriesIsNotDead(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		webhook, all := s.exceedBacklog()
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET attempts = 1")
		const acknowledge = "UPDATE delivery SET state = 'delivered', finished_at = $2 WHERE id = $1"
		sqlstoretest.Exec(t, s.DB, acknowledge, all[1].ID, s.Now().UnixMicro())
		s.advance(11 * time.Minute)
		sqlstoretest.Exec(t, s.DB, acknowledge, all[0].ID, s.Now().UnixMicro())
		if err := s.Bound(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s.DB, webhook, schema.DeliveryWaiting); n != 3 {
			t.Errorf("%d deliveries wait, want 3", n)
		}
	})
}

// Another instance may have ended deliveries since this one found too many.
func TestABacklogThatShrankIsKept(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		s.Backlog = 3
		webhook := s.webhook(schema.Live, 1)
		for range 2 {
			s.delivery(schema.Live, webhook)
		}
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET token = ''")
		if err := s.BoundOne(t.Context(), webhook); err != nil {
			t.Fatal(err)
		}
		if n := count(t, s.DB, webhook, schema.DeliveryWaiting); n != 2 {
			t.Errorf("%d deliveries wait, want 2", n)
		}
	})
}

func stateOf(t *testing.T, db *sqlstore.DB, id string) (stands schema.DeliveryState) {
	t.Helper()
	if err := db.View(context.Background()).QueryRow("SELECT state FROM delivery WHERE id = $1", id).Scan(&stands); err != nil {
		t.Fatal(err)
	}
	return stands
}

// count returns how many deliveries of a webhook have a state.
func count(t *testing.T, db *sqlstore.DB, webhook string, state schema.DeliveryState) int {
	t.Helper()
	return queryValue[int](t, db, "SELECT count(*) FROM delivery WHERE webhook_id = $1 AND state = $2", webhook, string(state))
}
