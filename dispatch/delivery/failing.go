package delivery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// failingAfter is how long all attempts must fail before the account is alerted: longer than a deployment of the
	// receiver takes. Even a single delivery has five attempts in that time, because they are due within 13 minutes.
	failingAfter = time.Hour
	// watchEvery is how often watcher.look is called. A call reads several minutes of attempts, after a start an hour.
	// It reads them in ranges of watchEvery, because one statement for all of them could time out.
	watchEvery = time.Minute
	// watchAgain is the length of the time range that two successive calls of watcher.look both read. Otherwise look
	// could miss attempts: they may be committed 30 s after their timestamps, and the clocks of instances differ.
	watchAgain = 2 * time.Minute
)

// Events appends events to the outbox, in the transaction of the change that caused them.
type Events interface {
	Append(tx *sqlstore.Tx, account string, world schema.World, event schema.EventType, data any) (id string, err error)
}

// WebhookFailing is the data of the event webhook.failing: all attempts have failed since the time Since.
type WebhookFailing struct {
	Webhook string `json:"webhook_id"`
	URL     string `json:"url"` // without user name, password and query, which may be secret
	Since   string `json:"failing_since"`
	Waiting int    `json:"waiting"` // number of waiting deliveries
	// Stage, HTTPStatus and Error are from the last attempt of the newest delivery that has failed attempts only.
	Stage      schema.Stage `json:"stage"`
	HTTPStatus *int         `json:"http_status"`
	Error      string       `json:"error"`
}

// Subject returns the webhook's id. Clients can list the events of a webhook by this id.
func (w WebhookFailing) Subject() string { return w.Webhook }

// WebhookRecovered is the data of the event webhook.recovered, which follows webhook.failing.
type WebhookRecovered struct {
	Webhook     string `json:"webhook_id"`
	URL         string `json:"url"`
	Since       string `json:"failing_since"`
	RecoveredAt string `json:"recovered_at"`
}

// Subject returns the webhook's id.
func (w WebhookRecovered) Subject() string { return w.Webhook }

const (
	// selectResults reads two times of each webhook: when its first failed attempt in a time range was recorded, and
	// when its last acknowledged one was. It uses the index attempt_recorded.
	selectResults = `SELECT d.webhook_id, COALESCE(MIN(CASE WHEN a.http_status / 100 <> 2 THEN a.recorded_at END), 0),
		COALESCE(MAX(CASE WHEN a.http_status / 100 = 2 THEN a.recorded_at END), 0)
		FROM attempt a JOIN delivery d ON d.id = a.delivery_id WHERE a.recorded_at > $1 AND a.recorded_at <= $2 GROUP BY d.webhook_id`
	selectWatched = "SELECT webhook_id FROM webhook_failing"
	insertFailing = "INSERT INTO webhook_failing (webhook_id, since) VALUES ($1, $2) ON CONFLICT (webhook_id) DO NOTHING"
	// deleteUnwatched deletes the rows of webhooks that were deleted, and of those that were paused before an alert.
	deleteUnwatched = `DELETE FROM webhook_failing WHERE NOT EXISTS (SELECT 1 FROM webhook w
		WHERE w.id = webhook_id AND w.deleted_at IS NULL AND (w.active <> 0 OR alerted_at IS NOT NULL))`
	// deleteMissed deletes rows whose alert became due while no instance was running. The alert is not sent, because
	// the webhook may have acknowledged deliveries since.
	deleteMissed    = "DELETE FROM webhook_failing WHERE alerted_at IS NULL AND since <= $1"
	deleteFailing   = "DELETE FROM webhook_failing WHERE webhook_id = $1"
	selectAlertDue  = "SELECT webhook_id FROM webhook_failing WHERE alerted_at IS NULL AND since <= $1"
	updateAlerted   = "UPDATE webhook_failing SET alerted_at = $2 WHERE webhook_id = $1 AND alerted_at IS NULL RETURNING since"
	deleteRecovered = "DELETE FROM webhook_failing WHERE webhook_id = $1 AND since < $2 RETURNING since, alerted_at IS NOT NULL"
	selectOwner     = "SELECT account_id, mode, url FROM webhook WHERE id = $1 AND deleted_at IS NULL"
	selectNewest    = `SELECT a.stage, a.http_status, a.error FROM delivery d JOIN attempt a ON a.delivery_id = d.id AND a.number = d.attempts
		WHERE d.webhook_id = $1 AND d.status_class <> 2 ORDER BY d.id DESC LIMIT 1`
)

// results has the Unix times, in microseconds, of two attempts of a webhook. A time is 0 if there is no such attempt.
type results struct {
	webhook              string
	failed, acknowledged int64 // the first failed and the last acknowledged attempt in a time range
}

// watcher reads the attempts of all webhooks, and finds webhooks that fail or have recovered. The table
// webhook_failing has the webhooks that fail.
type watcher struct {
	*Service
	looked  time.Time // when the method look was last called
	until   time.Time // the watcher has read the attempts up to this time
	started bool      // deleteMissed has run
}

// look reads the attempts since its previous call. It alerts accounts whose webhooks fail or have recovered. Several
// instances may run look at the same time. Only the instance that changes the row in webhook_failing appends the event,
// so each failure has one alert.
func (w *watcher) look(ctx context.Context, now time.Time) error {
	w.looked = now
	if w.Events == nil {
		return nil
	}
	if !w.started {
		missed := now.Add(-failingAfter - 5*watchEvery).UnixMicro()
		if err := w.change(ctx, deleteMissed, missed); err != nil {
			return fmt.Errorf("dropping missed failures of webhooks: %w", err)
		}
		w.started = true
	}
	watched := map[string]bool{}
	err := sqlstore.Each(w.DB.View(ctx), func(row sqlstore.Scanner) error {
		var id string
		err := row.Scan(&id)
		watched[id] = true
		return err
	}, selectWatched)
	if err != nil {
		return fmt.Errorf("reading failing webhooks: %w", err)
	}
	for from := w.until.Add(-watchAgain); from.Before(now); from = from.Add(watchEvery) {
		to := from.Add(watchEvery)
		if err := w.watch(ctx, from, to, watched); err != nil {
			return err
		}
		if to.After(w.until) {
			w.until = to
		}
	}
	w.until = now
	if len(watched) == 0 {
		return nil
	}
	return w.alertDue(ctx)
}

// watch reads the attempts recorded after `from`, up to `to`. A webhook whose attempts have all failed is added to
// `watched` and webhook_failing. A webhook that has acknowledged an attempt is removed from both.
func (s *Service) watch(ctx context.Context, from, to time.Time, watched map[string]bool) error {
	all, err := sqlstore.All(s.DB.View(ctx), func(row sqlstore.Scanner) (t results, err error) {
		err = row.Scan(&t.webhook, &t.failed, &t.acknowledged)
		return t, err
	}, selectResults, from.UnixMicro(), to.UnixMicro())
	if err != nil {
		return fmt.Errorf("reading the attempts of webhooks: %w", err)
	}
	for _, t := range all {
		switch {
		case t.acknowledged > 0 && watched[t.webhook]:
			err = s.endFailure(ctx, t)
			delete(watched, t.webhook)
		case t.acknowledged == 0 && t.failed > 0 && !watched[t.webhook]:
			err = s.change(ctx, insertFailing, t.webhook, t.failed)
			watched[t.webhook] = true
		}
		if err != nil {
			return fmt.Errorf("watching %s: %w", t.webhook, err)
		}
	}
	return nil
}

// change runs one statement in a transaction.
func (s *Service) change(ctx context.Context, statement string, args ...any) error {
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		_, err := tx.Exec(statement, args...)
		return err
	})
}

// alertDue alerts the accounts of all webhooks that have failed for failingAfter and have no alert yet.
func (s *Service) alertDue(ctx context.Context) error {
	if err := s.change(ctx, deleteUnwatched); err != nil {
		return fmt.Errorf("dropping webhooks that are not watched: %w", err)
	}
	due, err := sqlstore.All(s.DB.View(ctx), sqlstore.Scalar[string], selectAlertDue, s.Now().Add(-failingAfter).UnixMicro())
	for _, webhook := range due {
		if err == nil {
			err = s.DB.Update(ctx, func(tx *sqlstore.Tx) error { return s.alert(tx, webhook) })
		}
	}
	if err != nil {
		return fmt.Errorf("alerting accounts of failing webhooks: %w", err)
	}
	return nil
}

func (s *Service) alert(tx *sqlstore.Tx, webhook string) error {
	var since int64
	err := tx.QueryRow(updateAlerted, webhook, s.Now().UnixMicro()).Scan(&since)
	if errors.Is(err, sql.ErrNoRows) { // another instance has alerted
		return nil
	}
	if err != nil {
		return err
	}
	data := WebhookFailing{Webhook: webhook, Since: schema.FormatMillis(since)}
	var status int
	err = tx.QueryRow(selectNewest, webhook).Scan(&data.Stage, &status, &data.Error)
	if err == nil {
		err = tx.QueryRow(countWaiting, webhook).Scan(&data.Waiting)
	}
	if errors.Is(err, sql.ErrNoRows) { // the failed deliveries were purged
		_, err := tx.Exec(deleteFailing, webhook)
		return err
	}
	if err != nil {
		return err
	}
	if status != 0 {
		data.HTTPStatus = &status
	}
	return s.tell(tx, webhook, schema.EventWebhookFailing, func(url string) any { data.URL = url; return data })
}

// endFailure ends the failure of a webhook that has acknowledged an attempt after its first failed one.
func (s *Service) endFailure(ctx context.Context, t results) error {
	return s.DB.Update(ctx, func(tx *sqlstore.Tx) error {
		var since int64
		var alerted bool
		err := tx.QueryRow(deleteRecovered, t.webhook, t.acknowledged).Scan(&since, &alerted)
		if errors.Is(err, sql.ErrNoRows) { // the failure is newer, or another instance has ended it
			return nil
		}
		if err != nil || !alerted {
			return err
		}
		return s.tell(tx, t.webhook, schema.EventWebhookRecovered, func(url string) any {
			return WebhookRecovered{Webhook: t.webhook, URL: url, Since: schema.FormatMillis(since), RecoveredAt: schema.FormatMillis(t.acknowledged)}
		})
	})
}

// tell appends an event about a webhook to the outbox, in the transaction of the change. It does nothing for a deleted
// webhook.
func (s *Service) tell(tx *sqlstore.Tx, webhook string, event schema.EventType, data func(url string) any) error {
	var account, mode, address string
	err := tx.QueryRow(selectOwner, webhook).Scan(&account, &mode, &address)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		_, err = s.Events.Append(tx, account, schema.WorldOf(mode), event, data(withoutQuery(address)))
	}
	return err
}

// withoutQuery returns a URL without its user name, password, query and fragment, which may be secret.
func withoutQuery(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
