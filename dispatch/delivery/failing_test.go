package delivery_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vayu/dispatch/delivery"
	"vayu/dispatch/outbox"
	"vayu/internal/sqlstore"
	"vayu/internal/sqlstore/sqlstoretest"
	"vayu/schema"
)

// alerts returns the types of the stored alerts, in order, and the newest one.
func (s *fixture) alerts() (types []string, newest string) {
	s.t.Helper()
	err := sqlstore.Each(s.DB.View(s.t.Context()), func(row sqlstore.Scanner) error {
		var kind string
		var envelope []byte
		err := row.Scan(&kind, &envelope)
		types, newest = append(types, kind), string(envelope)
		return err
	}, "SELECT type, envelope FROM event WHERE type LIKE 'webhook.%' ORDER BY id")
	if err != nil {
		s.t.Fatal(err)
	}
	return types, newest
}

// wantAlerts watches, and compares the types of all alerts so far.
func (s *fixture) wantAlerts(want ...string) (newest string) {
	s.t.Helper()
	if err := s.Watch(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	got, newest := s.alerts()
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("the alerts (-want +got):\n%s", diff)
	}
	return newest
}

// attempted records an attempt of a new delivery.
func (s *fixture) attempted(webhook string, status int) {
	s.t.Helper()
	r := s.delivery(schema.Live, webhook)
	record(s.t, s.DB, s.Now(), outcome(&r, "token", status, s.Now()))
}

func eachWatched(t *testing.T, do func(t *testing.T, s *fixture)) {
	t.Helper()
	eachFixture(t, func(t *testing.T, s *fixture) {
		s.Events = outbox.New(outbox.Config{DB: s.DB, Now: s.Now})
		do(t, s)
	})
}

func TestAccountIsAlertedOncePerFailure(t *testing.T) {
	t.Parallel()
	eachWatched(t, func(t *testing.T, s *fixture) {
		webhook, good := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET url = 'https://user:pw@receiver.example/in?token=hidden' WHERE id = $1", webhook)
		s.attempted(webhook, 500)
		s.attempted(good, 200)
		s.wantAlerts()
		s.advance(59 * time.Minute)
		s.attempted(webhook, 503)
		s.wantAlerts()
		s.advance(2 * time.Minute)
		newest := s.wantAlerts("webhook.failing")
		want := `"data":{"webhook_id":"` + webhook + `","url":"https://receiver.example/in","failing_since":"2026-11-21T06:00:00.123Z","waiting":2,` +
			`"stage":"status","http_status":503,"error":"the answer was 503"}`
		if !strings.Contains(newest, want) {
			t.Errorf("the event is %s, want %s in it", newest, want)
		}
		for range 3 { // other instances, later looks, and further failures
			s.attempted(webhook, 500)
			s.wantAlerts("webhook.failing")
			s.advance(time.Hour)
		}
		s.attempted(webhook, 204)
		newest = s.wantAlerts("webhook.failing", "webhook.recovered")
		if want := `"recovered_at":"2026-11-21T10:01:00.123Z"`; !strings.Contains(newest, want) {
			t.Errorf("the event is %s, want %s in it", newest, want)
		}
		s.wantAlerts("webhook.failing", "webhook.recovered")
		s.advance(10 * time.Minute)
		s.attempted(webhook, 500)
		s.wantAlerts("webhook.failing", "webhook.recovered")
		s.advance(61 * time.Minute)
		s.wantAlerts("webhook.failing", "webhook.recovered", "webhook.failing")
	})
}

func TestSomeFailuresCauseNoAlert(t *testing.T) {
	t.Parallel()
	eachWatched(t, func(t *testing.T, s *fixture) {
		flaky, paused, deleted := s.webhook(schema.Live, 1), s.webhook(schema.Live, 2), s.webhook(schema.Live, 3)
		for _, id := range []string{flaky, paused, deleted} {
			s.attempted(id, 500)
		}
		s.wantAlerts()
		s.advance(30 * time.Minute)
		s.attempted(flaky, 200)
		s.wantAlerts()
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET active = 0 WHERE id = $1", paused)
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET deleted_at = 1 WHERE id = $1", deleted)
		s.advance(31 * time.Minute)
		s.attempted(flaky, 500)
		s.wantAlerts()
		sqlstoretest.Exec(t, s.DB, "UPDATE webhook SET active = 1 WHERE id = $1", paused)
		s.advance(time.Minute)
		s.wantAlerts()
		if got := queryValue[string](t, s.DB, "SELECT webhook_id FROM webhook_failing"); got != flaky {
			t.Errorf("%s is watched, want %s alone", got, flaky)
		}
	})
}

// After a start, the attempts of the last hour count. A failure that no instance watched when its alert was due begins
// again, because the webhook may have acknowledged meanwhile.
func TestAlertsAfterAStart(t *testing.T) {
	t.Parallel()
	eachWatched(t, func(t *testing.T, s *fixture) {
		webhook := s.webhook(schema.Live, 1)
		s.attempted(webhook, 500)
		s.wantAlerts()
		s.advance(3 * time.Hour)
		s.attempted(webhook, 500)
		s.advance(50 * time.Minute)
		look := func() {
			if err := s.WatchAfterStart(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		look()
		s.wantAlerts()
		s.advance(11 * time.Minute)
		look()
		s.wantAlerts("webhook.failing")
		s.advance(2 * time.Hour)
		look()
		s.attempted(webhook, 200)
		s.wantAlerts("webhook.failing", "webhook.recovered")
	})
}

// The event and the state are one transaction, so a failed append is repeated.
func TestAlertIsNotLost(t *testing.T) {
	t.Parallel()
	eachFixture(t, func(t *testing.T, s *fixture) {
		events := outbox.New(outbox.Config{DB: s.DB, Now: s.Now})
		webhook := s.webhook(schema.Live, 1)
		s.Events = lostEvents{}
		s.attempted(webhook, 500)
		if err := s.Watch(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.advance(61 * time.Minute)
		if err := s.Watch(t.Context()); err == nil {
			t.Error("the failure of the append was not reported")
		}
		s.Events = events
		s.wantAlerts("webhook.failing")
	})
}

type lostEvents struct{}

func (lostEvents) Append(*sqlstore.Tx, string, schema.World, schema.EventType, any) (string, error) {
	return "", errors.New("lost")
}

func TestResultsUseIndexes(t *testing.T) {
	t.Parallel()
	sqlstoretest.Each(t, func(t *testing.T, db *sqlstore.DB) {
		insertWaiting(t, db, 20_000, 10)
		sqlstoretest.Exec(t, db, `INSERT INTO attempt (delivery_id, number, at, duration, stage, http_status, error, body, recorded_at)
			SELECT id, 1, 1, 1, 'status', 500, '', $1, due_at FROM delivery`, []byte{})
		sqlstoretest.Exec(t, db, "ANALYZE")
		wantPlan(t, db, delivery.SelectResults, []any{start.Add(19 * time.Millisecond).UnixMicro(), start.Add(20 * time.Millisecond).UnixMicro()}, "attempt_recorded")
	})
}
