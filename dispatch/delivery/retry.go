package delivery

import (
	"database/sql"
	"errors"
	"fmt"
	"time"

	"vayu/internal/sqlstore"
	"vayu/schema"
)

// ErrNotFound is the problem of a request for a delivery that the caller's account does not have.
var ErrNotFound = schema.NewProblem(schema.NotFound, "", "There is no such delivery.")

// Original is a delivery that is retried manually.
type Original struct{ ID, Event, Webhook string }

// LockOriginal finds and locks a delivery of an owner. It returns an error if the delivery was retried before, if an
// attempt of it is in progress or due, or if its webhook was deleted.
func LockOriginal(tx *sqlstore.Tx, of schema.Owner, id string, now time.Time) (Original, error) {
	d := Original{ID: id}
	if !schema.IsID(id) {
		return d, ErrNotFound
	}
	var state schema.DeliveryState
	var due int64
	var token, retriedAs string
	var deleted bool
	err := tx.QueryRow(`UPDATE delivery SET retried_as = retried_as WHERE id = $1 AND account_id = $2 AND mode = $3
		RETURNING event_id, webhook_id, state, due_at, token, retried_as, (SELECT w.deleted_at IS NOT NULL FROM webhook w WHERE w.id = delivery.webhook_id)`,
		id, of.Account, of.World.String()).Scan(&d.Event, &d.Webhook, &state, &due, &token, &retriedAs, &deleted)
	if errors.Is(err, sql.ErrNoRows) {
		return d, ErrNotFound
	}
	if err != nil {
		return d, fmt.Errorf("reading a delivery to retry: %w", err)
	}
	switch {
	case retriedAs != "":
		return d, schema.NewProblem(schema.Conflict, "id", "This delivery was retried already, as "+retriedAs+".")
	case state == schema.DeliveryWaiting && token != "":
		return d, schema.NewProblem(schema.InvalidRequest, "id", "An attempt of this delivery is in progress. Retry it later.")
	case state == schema.DeliveryWaiting && due <= now.UnixMicro():
		return d, schema.NewProblem(schema.InvalidRequest, "id", "An attempt of this delivery is due now. Retry it later.")
	case deleted:
		return d, DeletedWebhook(d.Webhook)
	}
	return d, nil
}

// DeletedWebhook returns the problem of a retry if the subscription was deleted.
func DeletedWebhook(id string) error {
	return schema.NewProblem(schema.InvalidRequest, "webhook_id", "The webhook "+id+" was deleted.")
}

// setRetriedAs stores the id of the new delivery in each retried delivery, and cancels those that are waiting.
var setRetriedAs = sqlstore.NewBatchStatement(1, `UPDATE delivery SET retried_as = v.column2,
	state = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END, finished_at = COALESCE(finished_at, $1)
	FROM (VALUES `, "(?, ?)", ") AS v WHERE delivery.id = v.column1")

// Retry creates a new delivery for each original, due now, and returns the ids of the new deliveries. It skips
// originals that were retried before.
func (s *Service) Retry(tx *sqlstore.Tx, of schema.Owner, originals []Original) ([]string, error) {
	now := s.Now()
	all, ids := make([]newDelivery, len(originals)), newIDs(now, len(originals))
	for i, o := range originals {
		all[i] = newDelivery{id: ids[i], event: o.Event, webhook: o.Webhook, account: of.Account, world: of.World, retryOf: o.ID, dueAt: now.UnixMicro()}
	}
	stored, err := insertNew(tx, all, now)
	if err != nil {
		return nil, err
	}
	made := []string{}
	var links []any
	wake := map[string]bool{}
	for i, d := range all {
		if stored[i] {
			made = append(made, d.id)
			links = append(links, d.retryOf, d.id)
			wake[d.webhook] = true
		}
	}
	err = setRetriedAs.Each(len(made), func(text string, from, to int) error {
		_, err := tx.Exec(text, append([]any{now.UnixMicro()}, links[2*from:2*to]...)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("linking %d retries: %w", len(made), err)
	}
	tx.OnCommit(func() {
		for webhook := range wake {
			s.Wake(webhook)
		}
	})
	return made, nil
}
