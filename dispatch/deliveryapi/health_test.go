package deliveryapi_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/deliveryapi"
	"vayu/internal/access/accesstest"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// healthOf reads the health of a webhook.
func (s *apiFixture) healthOf(webhook string) schema.WebhookHealth {
	s.t.Helper()
	return read[schema.WebhookHealth](s.t, s.liveRequest("GET", "/v1/webhooks/"+webhook+"/health", ""), 200)
}

// attempted stores a delivery whose first attempt was answered with the given status.
func (s *apiFixture) attempted(webhook string, status int) delivery.Row {
	s.t.Helper()
	s.clock.Advance(time.Second)
	r := s.delivery(schema.Live, webhook)
	s.attempt(&r, s.answer(status))
	return r
}

func TestHealthStatus(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		is := func(what string, want schema.Health) {
			t.Helper()
			if got := s.healthOf(webhook); got.Health != want {
				t.Errorf("%s: it is %s, want %s", what, got.Health, want)
			}
		}
		is("without a delivery", schema.HealthIdle)
		s.delivery(schema.Live, webhook)
		is("before the first attempt", schema.HealthIdle)
		s.attempted(webhook, http.StatusOK)
		is("after a success", schema.HealthHealthy)
		failures := []string{s.attempted(webhook, http.StatusBadGateway).ID, s.attempted(webhook, http.StatusBadGateway).ID}
		is("after two failures", schema.HealthDegraded)
		failures = append(failures, s.attempted(webhook, http.StatusFound).ID)
		is("after three in a row", schema.HealthFailing)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET active = 0")
		is("while it is paused", schema.HealthPaused)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET active = 1")
		for range 20 {
			is("before twenty successes", map[bool]schema.Health{true: schema.HealthFailing, false: schema.HealthDegraded}[failures != nil])
			s.attempted(webhook, http.StatusNoContent)
			failures = nil
		}
		is("after twenty successes", schema.HealthHealthy)
		given := s.finished(schema.Live, webhook, http.StatusGone)
		for range 20 {
			s.attempted(webhook, http.StatusOK)
		}
		is("with one that was given up", schema.HealthDegraded)
		s.liveRequest("POST", "/v1/deliveries/"+given.ID+"/retry", "")
		is("after that is delivered again", schema.HealthHealthy)
	})
}

func TestHealthNumbers(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook, other := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		s.attempted(other, http.StatusOK)
		s.clock.Advance(time.Hour)
		begun := s.Now()
		at := func(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z") }
		answered := s.attempted(webhook, http.StatusOK)
		s.clock.Advance(50 * time.Minute)
		refused := s.delivery(schema.Live, webhook)
		result := s.answer(0)
		result.Stage, result.Error, result.Duration = schema.StageTLS, "the certificate has expired", 2*time.Second
		failedAt := s.Now()
		s.attempt(&refused, result)
		s.finished(schema.Live, webhook, http.StatusTeapot)
		sqlstoretest.Exec(t, s.DB, "UPDATE attempt SET at = at - 1, duration = 1000000 WHERE http_status = 418")
		cancelled := s.delivery(schema.Live, webhook)
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET state = 'cancelled' WHERE id = $1", cancelled.ID)
		s.delivery(schema.Live, webhook) // an attempt is in flight

		got := s.healthOf(webhook)
		status, text := 200, at
		since, next, oldest := text(begun.Add(time.Second)), text(failedAt.Add(10*time.Second)), text(failedAt)
		median, p95 := 1000.0, 2000.0
		want := schema.WebhookHealth{
			Status: "success", WebhookID: webhook, Health: schema.HealthDegraded, Deliveries: 4, Since: &since, OldestWaitingAt: &oldest, NextAttemptAt: &next,
			States:   schema.DeliveryCounts{Waiting: 2, Delivered: 1, Failed: 1, Cancelled: 1, Unretried: 1},
			Attempts: schema.AttemptCounts{Count: 3, Successes: 1, MedianMS: &median, P95MS: &p95},
			LastSuccess: &schema.WebhookAttempt{DeliveryID: answered.ID, LastAttempt: schema.LastAttempt{
				Number: 1, At: since, DurationMS: 12.345, Stage: schema.StageStatus, HTTPStatus: &status,
			}},
			LastFailure: &schema.WebhookAttempt{DeliveryID: refused.ID, LastAttempt: schema.LastAttempt{
				Number: 1, At: oldest, DurationMS: 2000, Stage: schema.StageTLS, Error: "the certificate has expired",
			}},
		}
		first := failedAt.Truncate(time.Hour).Add(-23 * time.Hour)
		for i := range 24 {
			want.ByHour = append(want.ByHour, schema.AttemptsOfHour{Hour: first.Add(time.Duration(i) * time.Hour).Format(time.RFC3339)})
		}
		want.ByHour[23] = schema.AttemptsOfHour{Hour: "2026-11-21T07:00:00Z", Delivered: 1, Failed: 2}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		s.clock.Advance(23 * time.Hour)
		if got := s.healthOf(webhook).ByHour[0]; got != want.ByHour[23] {
			t.Errorf("23 hours later the first is %+v", got)
		}
		s.clock.Advance(time.Hour)
		for _, hour := range s.healthOf(webhook).ByHour {
			if hour.Delivered+hour.Failed != 0 {
				t.Errorf("a day later there is %+v", hour)
			}
		}
	})
}

// The health of a webhook covers the newest thousand of ten thousand deliveries.
func TestHealthUsesNewestThousand(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		s.many(webhook, 10_000, 8)
		got := s.healthOf(webhook)
		since := s.Now().Add(-999 * time.Second).Format("2006-01-02T15:04:05.000Z")
		switch {
		case got.Deliveries != 1000:
			t.Errorf("Deliveries = %v, want 1000", got.Deliveries)
		case !got.HasMore:
			t.Error("HasMore is false")
		case got.States.Failed != 10_000:
			t.Errorf("States.Failed = %v, want 10000", got.States.Failed)
		case got.Attempts.Count != 8000:
			t.Errorf("Attempts.Count = %v, want 8000", got.Attempts.Count)
		case *got.Since != since:
			t.Errorf("*Since = %v, want %v", *got.Since, since)
		case *got.Attempts.MedianMS != 4:
			t.Errorf("*Attempts.MedianMS = %v, want 4", *got.Attempts.MedianMS)
		case *got.Attempts.P95MS != 8:
			t.Errorf("*Attempts.P95MS = %v, want 8", *got.Attempts.P95MS)
		case got.Health != schema.HealthFailing:
			t.Errorf("Health = %v, want %v", got.Health, schema.HealthFailing)
		case got.LastFailure.DeliveryID != rowID(9_999):
			t.Errorf("got %+v, since %s and not %s", got, *got.Since, since)
		case got.LastFailure.Number != 8:
			t.Errorf("LastFailure.Number = %v, want 8", got.LastFailure.Number)
		}
	})
}

// A backlog does not hide the attempts of a slow endpoint: the newest deliveries are those without an attempt.
func TestHealthWithBacklog(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook := s.webhook(schema.Live, 1)
		s.many(webhook, 2_500, 0)
		s.events++ // the number that many used
		sqlstoretest.Exec(t, s.DB, "DELETE FROM attempt")
		sqlstoretest.Exec(t, s.DB, "UPDATE delivery SET id = 'dlv_9' || substr(id, 6), state = 'waiting', finished_at = NULL")
		begun := s.Now().Add(time.Second).Format("2006-01-02T15:04:05.000Z")
		for range 3 {
			s.attempted(webhook, http.StatusGatewayTimeout)
		}
		got := s.healthOf(webhook)
		for _, row := range []struct {
			name      string
			got, want any
		}{
			{"health", got.Health, schema.HealthFailing},
			{"states.waiting", got.States.Waiting, 2_503},
			{"attempts.count", got.Attempts.Count, 3},
			{"deliveries", got.Deliveries, 3},
			{"since", *got.Since, begun},
		} {
			t.Run(row.name, func(t *testing.T) {
				if row.got != row.want {
					t.Errorf("got %v, want %v", row.got, row.want)
				}
			})
		}
	})
}

func TestHealthOfMissingWebhook(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *apiFixture) {
		webhook, sandbox := s.webhook(schema.Live, 1), s.webhook(schema.Sandbox, 2)
		other := accesstest.AddTenant(t, s.DB, "other").ID
		s.addWebhook(other, schema.Live, "wh_01KAHR3M5Q7S9V1X3Z5B7D9999")
		for _, id := range []string{sandbox, "wh_01KAHR3M5Q7S9V1X3Z5B7D9999", "wh_none", "%00", strings.Repeat("w", 300)} {
			s.liveRequest("GET", "/v1/webhooks/"+id+"/health", "").refused(t, id, 404, schema.NotFound, "id", "webhook")
		}
		s.liveRequest("GET", "/v1/webhooks/"+webhook+"/health?view=x", "").refused(t, "a parameter", 400, schema.InvalidRequest, "view", "")
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1")
		s.liveRequest("GET", "/v1/webhooks/"+webhook+"/health", "").refused(t, "a deleted one", 404, schema.NotFound, "id", "webhook")
	})
}

func TestHealthUsesIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertSpread(t, db)
		sqlstoretest.Exec(t, db, "ANALYZE")
		got := sqlstoretest.Plan(t, db, deliveryapi.SelectHealth, "wh_000000000000000001000000001", 1001)
		if !strings.Contains(got, "delivery_webhook ") || readsAttempts(got) || strings.Contains(got, "TEMP B-TREE") {
			t.Errorf("the plan is\n%s", got)
		}
		got = sqlstoretest.Plan(t, db, deliveryapi.SelectOpen, "wh_000000000000000001000000001", 1)
		for _, index := range []string{"delivery_due", "delivery_failed_webhook", "delivery_retriable_webhook"} {
			if !strings.Contains(got, index) {
				t.Errorf("the plan has no index %s:\n%s", index, got)
			}
		}
	})
}
