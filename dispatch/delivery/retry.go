package delivery

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// retryMost limits the deliveries of one retry call. The transaction takes some tens of
// milliseconds, and on SQLite other writes wait.
const retryMost = 1000

// retryAction is the audit action of a manual retry.
const retryAction = "delivery.retry"

// retry answers POST /v1/deliveries/{id}/retry.
func (s *Service) retry(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.Parameters(c.URL.RawQuery); err != nil {
		return httpapi.Response{}, err
	}
	if _, err := httpapi.DecodeOptional[struct{}](c); err != nil {
		return httpapi.Response{}, err
	}
	return s.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		d, err := retriable(tx, c, mux.Vars(c.Request)["id"], s.Now())
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		var made []string
		if err = notDeleted(tx, d.webhook); err == nil {
			made, err = s.createRetries(tx, c, []old{d})
		}
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return retried(made, false), audit.Entry{Action: retryAction, Subject: d.id, Detail: map[string]any{"delivery_id": made[0], "webhook_id": d.webhook}}, nil
	})(c)
}

func retried(ids []string, more bool) httpapi.Response {
	return httpapi.Response{Status: http.StatusAccepted, Value: schema.DeliveriesRetried{
		Status: schema.Success, Retried: len(ids), IDs: ids, HasMore: more,
	}}
}

// old is a delivery that is retried.
type old struct{ id, event, webhook string }

// retriable finds and locks a delivery of the caller's account, or returns why it cannot be
// retried. It does not check the webhook; notDeleted does. A delivery that waits for its
// next attempt can be retried, because that attempt can be hours away.
func retriable(tx *sqlstore.Tx, c *httpapi.Call, id string, now time.Time) (d old, err error) {
	if !schema.IsID(id) {
		return d, errNoDelivery
	}
	var stands schema.DeliveryState
	var due int64
	var token, retriedAs string
	d.id = id
	err = tx.QueryRow(`UPDATE delivery SET retried_as = retried_as WHERE id = $1 AND account_id = $2 AND mode = $3
		RETURNING event_id, webhook_id, state, due_at, token, retried_as`, id, c.Account, c.World.String()).Scan(&d.event, &d.webhook, &stands, &due, &token, &retriedAs)
	if errors.Is(err, sql.ErrNoRows) {
		return d, errNoDelivery
	}
	if err != nil {
		return d, fmt.Errorf("reading a delivery to retry: %w", err)
	}
	switch {
	case retriedAs != "":
		return d, schema.NewProblem(schema.Conflict, "id", "This delivery was retried already, as "+retriedAs+".")
	case stands == schema.DeliveryWaiting && token != "":
		return d, schema.NewProblem(schema.InvalidRequest, "id", "An attempt of this delivery is under way.")
	case stands == schema.DeliveryWaiting && due <= now.UnixMicro():
		return d, schema.NewProblem(schema.InvalidRequest, "id", "An attempt of this delivery is due now.")
	}
	return d, nil
}

// notDeleted returns a problem if the subscription is deleted.
func notDeleted(q sqlstore.Querier, webhook string) error {
	var deleted bool
	if err := q.QueryRow("SELECT deleted_at IS NOT NULL FROM webhook WHERE id = $1", webhook).Scan(&deleted); err != nil {
		return fmt.Errorf("reading the webhook of a retry: %w", err)
	}
	if deleted {
		return schema.NewProblem(schema.InvalidRequest, "webhook_id", "The webhook "+webhook+" was deleted.")
	}
	return nil
}

// setRetriedAs links retried deliveries with the new ones. It cancels retried deliveries
// that still waited.
var setRetriedAs = sqlstore.NewBatchStatement(1, `UPDATE delivery SET retried_as = v.column2,
	state = CASE WHEN state = 'waiting' THEN 'cancelled' ELSE state END, finished_at = COALESCE(finished_at, $1)
	FROM (VALUES `, "(?, ?)", ") AS v WHERE delivery.id = v.column1")

// createRetries creates a new delivery, due now, for each old one and returns their ids.
// Deliveries that a concurrent call retries are skipped.
func (s *Service) createRetries(tx *sqlstore.Tx, c *httpapi.Call, over []old) ([]string, error) {
	now := s.Now()
	all, ids := make([]newDelivery, len(over)), newIDs(now, len(over))
	for i, o := range over {
		all[i] = newDelivery{id: ids[i], event: o.event, webhook: o.webhook, account: c.Account, world: c.World, retryOf: o.id, dueAt: now.UnixMicro()}
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
	if len(made) > 0 {
		tx.OnCommit(func() {
			for webhook := range wake {
				s.Wake(webhook)
			}
		})
	}
	return made, nil
}
