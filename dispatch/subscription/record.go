package subscription

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// record is a stored subscription without its secrets.
type record struct {
	Subscription

	lastFour string
	previous sql.NullInt64 // end of the grace period of the previous secret

	reached, most, failed sql.NullInt64 // columns of table webhook_backlog
}

const selectRecord = `SELECT id, account_id, mode, url, events, active, api_version, clear_numbers, secret_last4, created_at, previous_until, reached_at, most, failed
	FROM webhook LEFT JOIN webhook_backlog ON webhook_id = id WHERE account_id = $1 AND mode = $2 AND deleted_at IS NULL`

func scanRecord(row sqlstore.Scanner) (*record, error) {
	r := &record{}
	var mode, events string
	var active, clearNumbers int64
	err := row.Scan(&r.ID, &r.Account, &mode, &r.URL, &events, &active, &r.Version, &clearNumbers, &r.lastFour, &r.createdAt, &r.previous, &r.reached, &r.most, &r.failed)
	if err != nil {
		return nil, err
	}
	r.World, r.Events, r.Active = schema.WorldOf(mode), eventList(events), active != 0
	r.ClearNumbers = clearNumbers != 0
	return r, nil
}

// wire returns the subscription in the form of the API.
func (r *record) wire(now time.Time) schema.Webhook {
	w := schema.Webhook{
		ID: r.ID, URL: r.URL, Events: r.Events, Active: r.Active, APIVersion: r.Version, Mode: r.World.String(),
		CreatedAt: schema.FormatMicros(r.createdAt), SecretLast4: r.lastFour, ClearNumbers: r.ClearNumbers,
	}
	if r.previous.Valid && r.previous.Int64 > now.UnixMicro() {
		until := schema.FormatMicros(r.previous.Int64)
		w.PreviousSecretUntil = &until
	}
	if r.reached.Valid {
		w.Backlog = &schema.WebhookBacklog{Limit: r.most.Int64, Failed: r.failed.Int64, ReachedAt: schema.FormatMicros(r.reached.Int64)}
	}
	return w
}

const idPrefix = "wh_"

// recordOf returns a subscription of an owner. If the owner has no such subscription, the
// error is a *schema.Problem with the code not_found.
func recordOf(q sqlstore.Querier, of schema.Owner, id string) (*record, error) {
	if !schema.IsID(id) {
		return nil, schema.NoWebhook("id")
	}
	r, err := scanRecord(q.QueryRow(selectRecord+" AND id = $3", of.Account, of.World.String(), id))
	if errors.Is(err, sql.ErrNoRows) {
		return nil, schema.NoWebhook("id")
	}
	if err != nil {
		return nil, fmt.Errorf("reading a webhook: %w", err)
	}
	return r, nil
}

// selectList reads a page of an owner's subscriptions by the index webhook_account.
const selectList = selectRecord + " AND id > $3 ORDER BY id LIMIT $4"

// list returns at most `limit` subscriptions of an owner, oldest first, with ids greater than `after`; "" for the first
// page.
func list(q sqlstore.Querier, of schema.Owner, after string, limit int) ([]*record, error) {
	return sqlstore.All(q, scanRecord, selectList, of.Account, of.World.String(), after, limit)
}
