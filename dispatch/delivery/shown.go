package delivery

import (
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"vayu/internal/api"
	"vayu/internal/state"
	"vayu/schema"
)

// instant is how moments are shown: RFC 3339 in UTC with milliseconds.
const instant = "2006-01-02T15:04:05.000Z"

// Columns of a delivery as scanShown reads them.
const shownColumns = "d.id, d.webhook_id, d.event_id, e.type, d.state, d.attempts, d.created_at, d.due_at, d.token, d.finished_at, d.retry_of, d.retried_as"

// scanShown reads a row of shownColumns as it is shown at now, and what follows
// them into more.
func scanShown(now time.Time, more ...any) func(state.Scanner) (schema.Delivery, error) {
	return func(row state.Scanner) (schema.Delivery, error) {
		var d schema.Delivery
		var created, due int64
		var token, retryOf, retriedAs string
		var finished sql.NullInt64
		err := row.Scan(append([]any{
			&d.ID, &d.WebhookID, &d.EventID, &d.EventType, &d.State, &d.Made, &created, &due, &token, &finished, &retryOf, &retriedAs,
		}, more...)...)
		d.CreatedAt = shownInstant(created)
		if d.State == schema.DeliveryWaiting && (token == "" || due <= now.UnixMicro()) {
			text := shownInstant(due)
			d.NextAttemptAt = &text
		}
		if finished.Valid {
			text := shownInstant(finished.Int64)
			d.FinishedAt = &text
		}
		d.RetryOf, d.RetriedAs = optional(retryOf), optional(retriedAs)
		return d, err
	}
}

func shownInstant(micros int64) string { return time.UnixMicro(micros).UTC().Format(instant) }

// optional is null for an empty text.
func optional(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

var errNoDelivery = schema.Refuse(schema.NotFound, "", "There is no such delivery.")

// owns reports whether a table has a row with an id that belongs to the caller's
// account and world.
func owns(q state.Querier, c *api.Call, table, id string) (bool, error) {
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

// detailed is a delivery of the caller's with everything that is known of it.
func detailed(q state.Querier, c *api.Call, id string, now time.Time) (d schema.DeliveryDetailed, err error) {
	if !schema.IsID(id) {
		return d, errNoDelivery
	}
	row := q.QueryRow("SELECT "+shownColumns+`, w.url FROM delivery d JOIN event e ON e.id = d.event_id JOIN webhook w ON w.id = d.webhook_id
		WHERE d.id = $1 AND d.account_id = $2 AND d.mode = $3`, id, c.Account, c.World.String())
	d.Delivery, err = scanShown(now, &d.URL)(row)
	if errors.Is(err, sql.ErrNoRows) {
		return d, errNoDelivery
	}
	if err != nil {
		return d, fmt.Errorf("reading a delivery: %w", err)
	}
	d.Attempts, err = state.All(q, scanAttempt, `SELECT number, at, duration, stage, http_status, error, body FROM attempt
		WHERE delivery_id = $1 ORDER BY number`, id)
	if d.Attempts == nil {
		d.Attempts = []schema.Attempt{}
	}
	return d, err
}

func scanAttempt(row state.Scanner) (schema.Attempt, error) {
	var a schema.Attempt
	var at, micros int64
	var status int
	var body []byte
	err := row.Scan(&a.Number, &at, &micros, &a.Stage, &status, &a.Error, &body)
	a.At, a.DurationMS = shownInstant(at), float64(micros)/1000
	if status != 0 {
		a.HTTPStatus = &status
	}
	a.Body = strings.ToValidUTF8(string(body), "\uFFFD")
	return a, err
}
