package deliveryapi_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/deliveryapi"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

func TestManualRetryHappensOnce(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		failed, delivered, waiting := s.finished(schema.Live, webhook, 500), s.finished(schema.Live, webhook, 200), s.delivery(schema.Live, webhook)
		s.clock.Advance(time.Hour)
		path := func(id string) string { return "/v1/deliveries/" + id + "/retry" }
		for _, old := range []string{failed.ID, delivered.ID} {
			first := s.do(schema.Live, "POST", path(old), "", "Idempotency-Key", old)
			got := read[schema.DeliveriesRetried](t, first, 202)
			if got.Retried != 1 || len(got.IDs) != 1 || got.HasMore {
				t.Fatalf("got %+v", got)
			}
			again := s.do(schema.Live, "POST", path(old), "", "Idempotency-Key", old)
			if again.Text != first.Text || again.Header.Get("Idempotent-Replayed") != "true" {
				t.Errorf("got %s, want %s again", again.Text, first.Text)
			}
			s.liveRequest("POST", path(old), "{}").refused(t, "twice", 409, schema.Conflict, "id", got.IDs[0])
			before := read[deliveryapi.Reply](t, s.liveRequest("GET", "/v1/deliveries/"+old, ""), 200).Data
			now := read[deliveryapi.Reply](t, s.liveRequest("GET", "/v1/deliveries/"+got.IDs[0], ""), 200).Data
			due := s.Now().Format("2006-01-02T15:04:05.000Z")
			want := deliveryapi.Detail{URL: before.URL, Attempts: []deliveryapi.Attempt{}, Delivery: schema.Delivery{
				ID: got.IDs[0], WebhookID: webhook, EventID: before.EventID, EventType: before.EventType, State: schema.DeliveryWaiting,
				CreatedAt: due, NextAttemptAt: &due, RetryOf: &before.ID,
			}}
			if diff := cmp.Diff(want, now); diff != "" || *before.RetriedAs != now.ID || len(before.Attempts) != 1 {
				t.Errorf("%+v became (-want +got):\n%s", before, diff)
			}
		}
		if !slices.Equal(s.woken, []string{webhook, webhook}) {
			t.Errorf("woken were %v", s.woken)
		}
		s.liveRequest("POST", path(waiting.ID), "").refused(t, "one that is leased", 400, schema.InvalidRequest, "id", "in progress")
		other := s.finished(schema.Live, webhook, 500)
		s.do(schema.Sandbox, "POST", path(other.ID), "").refused(t, "from the sandbox", 404, schema.NotFound, "", "")
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET account_id = 'acc_other' WHERE id = $1", other.ID)
		s.liveRequest("POST", path(other.ID), "").refused(t, "another account's", 404, schema.NotFound, "", "")
		s.liveRequest("POST", path("dlv_%00"), "").refused(t, "no id", 404, schema.NotFound, "", "")
		s.liveRequest("POST", path(failed.ID), "[]").refused(t, "an array", 400, schema.InvalidRequest, "", "")
		s.liveRequest("POST", path(failed.ID)+"?x=1", "").refused(t, "a parameter", 400, schema.InvalidRequest, "x", "")
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET account_id = $1 WHERE id = $2", s.tenant.ID, other.ID)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1")
		s.liveRequest("POST", path(other.ID), "").refused(t, "a deleted webhook", 400, schema.InvalidRequest, "webhook_id", "deleted")
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM audit WHERE action = 'delivery.retry'"); n != 2 {
			t.Errorf("%d rows in the audit log, want 2", n)
		}
	})
}

func TestRetryOfWaitingDelivery(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		first, second := s.delivery(schema.Live, webhook), s.delivery(schema.Live, webhook)
		s.attempt(&first, s.answer(500))
		s.attempt(&second, s.answer(500))
		path := "/v1/deliveries/" + first.ID + "/retry"
		got := read[schema.DeliveriesRetried](t, s.liveRequest("POST", path, ""), 202)
		before := read[deliveryapi.Reply](t, s.liveRequest("GET", "/v1/deliveries/"+first.ID, ""), 200).Data
		after := read[deliveryapi.Reply](t, s.liveRequest("GET", "/v1/deliveries/"+got.IDs[0], ""), 200).Data
		now := s.Now().Format("2006-01-02T15:04:05.000Z")
		switch {
		case before.State != schema.DeliveryCancelled:
			t.Errorf("before.State = %v, want %v", before.State, schema.DeliveryCancelled)
		case *before.RetriedAs != after.ID:
			t.Errorf("*before.RetriedAs = %v, want %v", *before.RetriedAs, after.ID)
		case before.NextAttemptAt != nil:
			t.Errorf("before.NextAttemptAt = %v, want nil", before.NextAttemptAt)
		case *before.FinishedAt != now:
			t.Errorf("*before.FinishedAt = %v, want %v", *before.FinishedAt, now)
		case len(before.Attempts) != 1:
			t.Errorf("len(before.Attempts) = %v, want 1", len(before.Attempts))
		}
		switch {
		case after.State != schema.DeliveryWaiting:
			t.Errorf("after.State = %v, want %v", after.State, schema.DeliveryWaiting)
		case *after.RetryOf != first.ID:
			t.Errorf("*after.RetryOf = %v, want %v", *after.RetryOf, first.ID)
		case *after.NextAttemptAt != now:
			t.Errorf("*after.NextAttemptAt = %v, want %v", *after.NextAttemptAt, now)
		case after.Made != 0:
			t.Errorf("after.Made = %v, want 0", after.Made)
		}
		s.liveRequest("POST", path, "").refused(t, "twice", 409, schema.Conflict, "id", after.ID)
		s.liveRequest("POST", "/v1/deliveries/"+after.ID+"/retry", "").refused(t, "one that is due", 400, schema.InvalidRequest, "id", "due now")
		if n := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", `{"webhook_id":"`+webhook+`"}`), 202).Retried; n != 0 {
			t.Errorf("%d were retried as failed, want none: neither has failed", n)
		}
		if n := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", `{"delivery_ids":["`+second.ID+`"]}`), 202).Retried; n != 1 {
			t.Errorf("%d were retried by id, want 1", n)
		}
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM delivery WHERE state = 'cancelled' AND token = '' AND finished_at IS NOT NULL AND retried_as <> ''"); n != 2 {
			t.Errorf("%d were taken back, want 2", n)
		}
		s.clock.Advance(time.Hour)
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM delivery WHERE state = 'waiting'"); n != 2 {
			t.Errorf("%d wait, want the two that were made", n)
		}
	})
}

func TestRetryFailedDeliveries(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook, other := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		var failed []string
		for range 6 {
			failed = append(failed, s.finished(schema.Live, webhook, 500).ID)
			s.finished(schema.Live, webhook, 200)
			s.clock.Advance(24 * time.Hour)
		}
		alien := s.finished(schema.Live, other, 500)
		retry := func(body string) schema.DeliveriesRetried {
			t.Helper()
			return read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", body), 202)
		}
		olds := func(ids []string) (all []string) {
			for _, id := range ids {
				all = append(all, sqlstoretest.Value[string](t, s.DB, "SELECT retry_of FROM delivery WHERE id = $1", id))
			}
			return all
		}
		for _, step := range []struct {
			span string
			want []string
		}{
			{`,"from":"2026-11-22","to":"2026-11-23"`, failed[1:3]},
			{`,"from":"2026-11-22","to":"2026-11-23"`, nil},
			{`,"to":"2026-11-21T06:00:00.123456Z"`, nil},
			{`,"to":"2026-11-21T06:00:00.123457Z","from":null`, failed[:1]},
			{``, failed[3:]},
		} {
			got := retry(`{"webhook_id":"` + webhook + `"` + step.span + `}`)
			if diff := cmp.Diff(append([]string{}, step.want...), append([]string{}, olds(got.IDs)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.span, diff)
			}
			if got.Retried != len(got.IDs) || got.HasMore {
				t.Errorf("%s: retried = %d, has_more = %v, want %d, false", step.span, got.Retried, got.HasMore, len(got.IDs))
			}
		}
		if len(s.woken) != 3 || sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM audit WHERE action = 'delivery.retry'") != 3 {
			t.Errorf("%d were woken, want a wake and a row in the audit log for each call that did something", len(s.woken))
		}
		if sqlstoretest.Value[string](t, s.DB, "SELECT retried_as FROM delivery WHERE id = $1", alien.ID) != "" {
			t.Error("another webhook's delivery was retried")
		}
		for body, field := range map[string]string{
			`{}`: "webhook_id", `{"webhook_id":""}`: "webhook_id", `{"webhook_id":1}`: "webhook_id", `{"webhook_id":"x","from":"yesterday"}`: "from", `{"webhook_id":"x","from":"2026-11-23","to":"2026-11-20"}`: "from",
		} {
			s.liveRequest("POST", "/v1/deliveries/retry", body).refused(t, body, 400, schema.InvalidRequest, field, "")
		}
		s.liveRequest("POST", "/v1/deliveries/retry", "").refused(t, "no body", 400, schema.InvalidRequest, "", "")
		s.liveRequest("POST", "/v1/deliveries/retry?x=1", "{}").refused(t, "a parameter", 400, schema.InvalidRequest, "x", "")
		for _, id := range []string{"wh_none", `\u0000`} {
			s.liveRequest("POST", "/v1/deliveries/retry", `{"webhook_id":"`+id+`"}`).refused(t, id, 404, schema.NotFound, "webhook_id", "")
		}
		s.do(schema.Sandbox, "POST", "/v1/deliveries/retry", `{"webhook_id":"`+webhook+`"}`).refused(t, "from the sandbox", 404, schema.NotFound, "webhook_id", "")
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1")
		s.liveRequest("POST", "/v1/deliveries/retry", `{"webhook_id":"`+other+`"}`).refused(t, "a deleted one", 400, schema.InvalidRequest, "webhook_id", "deleted")
	})
}

func TestRetryThousandInOneCall(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		s.addEvent(schema.Live, "evt_01KAHR3M5Q7S9V1X3Z5B7D0001")
		sqlstoretest.Update(t, s.DB, func(tx *sqlstore.Tx) error {
			for i := range 1001 {
				if _, err := tx.Exec(`INSERT INTO delivery (id, event_id, webhook_id, account_id, mode, retry_of, due_at, token, created_at, state, attempts, finished_at, retried_as)
					VALUES ($1, 'evt_01KAHR3M5Q7S9V1X3Z5B7D0001', $2, $3, 'live', 'of ' || $1, 1, '', 1, 'failed', 8, 1, '')`, fmt.Sprintf("dlv_01KAHR3M5Q7S9V1X3Z5B7D%04d", i), webhook, s.tenant.ID); err != nil {
					return err
				}
			}
			return nil
		})
		for i, want := range []int{1000, 1, 0} {
			got := read[schema.DeliveriesRetried](t, s.liveRequest("POST", "/v1/deliveries/retry", `{"webhook_id":"`+webhook+`"}`), 202)
			if got.Retried != want || got.HasMore != (i == 0) || !slices.IsSorted(got.IDs) {
				t.Errorf("call %d retried %d, more: %v; want %d", i, got.Retried, got.HasMore, want)
			}
		}
		if n := sqlstoretest.Value[int](t, s.DB, "SELECT count(*) FROM delivery old JOIN delivery d ON d.id = old.retried_as AND d.retry_of = old.id WHERE d.state = 'waiting'"); n != 1001 {
			t.Errorf("%d are linked, want 1001", n)
		}
	})
}
