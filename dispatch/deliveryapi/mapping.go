package deliveryapi

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// These are the columns and tables that scanShown reads. The join finds the last attempt of a delivery by the
// primary key of the table "attempt", so a page costs one lookup per delivery.
const (
	shownColumns = `d.id, d.webhook_id, d.event_id, e.type, d.state, d.attempts, d.created_at, d.due_at, d.token, d.finished_at, d.retry_of, d.retried_as,
		a.at, a.duration, a.stage, a.http_status, a.error`
	shownTables = "delivery d JOIN event e ON e.id = d.event_id LEFT JOIN attempt a ON a.delivery_id = d.id AND a.number = d.attempts"
)

// scanShown returns a function that reads a row of shownColumns into the type of the API. If the row has further
// columns, the function scans them into the pointers in `more`.
func scanShown(now time.Time, more ...any) func(sqlstore.Scanner) (schema.Delivery, error) {
	return func(row sqlstore.Scanner) (schema.Delivery, error) {
		var d schema.Delivery
		var created, due int64
		var token, retryOf, retriedAs string
		var finished sql.NullInt64
		var last lastScan
		err := row.Scan(append([]any{
			&d.ID, &d.WebhookID, &d.EventID, &d.EventType, &d.State, &d.Made, &created, &due, &token, &finished, &retryOf, &retriedAs,
			&last.at, &last.duration, &last.stage, &last.status, &last.text,
		}, more...)...)
		d.LastAttempt = last.shown(d.Made)
		d.CreatedAt = schema.FormatMillis(created)
		if d.State == schema.DeliveryWaiting && (token == "" || due <= now.UnixMicro()) {
			text := schema.FormatMillis(due)
			d.NextAttemptAt = &text
		}
		if finished.Valid {
			text := schema.FormatMillis(finished.Int64)
			d.FinishedAt = &text
		}
		d.RetryOf, d.RetriedAs = optional(retryOf), optional(retriedAs)
		return d, err
	}
}

// lastScan receives the columns of an attempt, usually the last of a delivery. They are null if there is no attempt.
type lastScan struct {
	at, duration, status sql.NullInt64
	stage, text          sql.NullString
}

// shown returns the attempt in the form of the API; nil if there is no attempt. `n` is the number of the attempt.
func (l *lastScan) shown(n int) *schema.LastAttempt {
	if !l.at.Valid {
		return nil
	}
	a := schema.LastAttempt{
		Number: n, At: schema.FormatMillis(l.at.Int64), DurationMS: milliseconds(l.duration.Int64), Stage: schema.Stage(l.stage.String), Error: l.text.String,
	}
	if status := int(l.status.Int64); status != 0 {
		a.HTTPStatus = &status
	}
	return &a
}

func milliseconds(micros int64) float64 { return float64(micros) / 1000 }

func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// owns reports whether a row of a table belongs to the caller's account and world.
func owns(q sqlstore.Querier, c *httpapi.Call, table, id string) (bool, error) {
	if !schema.IsID(id) {
		return false, nil
	}
	var one int
	err := q.QueryRow("SELECT 1 FROM "+table+" WHERE id = $1 AND account_id = $2 AND mode = $3", id, c.Account, c.World.String()).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

type webhookState struct{ active, deleted bool }

// webhookOf returns the state of a webhook of the caller. If the caller has no such webhook, it returns a problem about
// the field `field`.
func webhookOf(q sqlstore.Querier, c *httpapi.Call, id, field string) (w webhookState, err error) {
	if !schema.IsID(id) {
		return w, schema.NoWebhook(field)
	}
	err = q.QueryRow("SELECT active <> 0, deleted_at IS NOT NULL FROM webhook WHERE id = $1 AND account_id = $2 AND mode = $3",
		id, c.Account, c.World.String()).Scan(&w.active, &w.deleted)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return w, schema.NoWebhook(field)
	case err != nil:
		return w, fmt.Errorf("reading a webhook: %w", err)
	}
	return w, nil
}
