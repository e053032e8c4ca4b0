package delivery

import (
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/account"
	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// retryMost is how many deliveries one call makes anew: some tens of
// milliseconds of one transaction, during which on SQLite others wait.
const retryMost = 1000

// retryAction is what the audit log calls a retry by hand.
const retryAction = "delivery.retry"

// retry answers POST /v1/deliveries/{id}/retry.
func (s *Service) retry(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	if _, err := api.DecodeOptional[struct{}](c); err != nil {
		return api.Response{}, err
	}
	return s.Change(func(c *api.Call, tx *state.Tx) (api.Response, account.Entry, error) {
		d, err := retriable(tx, c, mux.Vars(c.Request)["id"], s.Now())
		if err != nil {
			return api.Response{}, account.Entry{}, err
		}
		made, err := s.again(tx, c, d.webhook, []old{d.old})
		if err != nil {
			return api.Response{}, account.Entry{}, err
		}
		return retried(made, false), account.Entry{Action: retryAction, Subject: d.id, Detail: map[string]any{"delivery_id": made[0], "webhook_id": d.webhook}}, nil
	})(c)
}

func retried(ids []string, more bool) api.Response {
	return api.Response{Status: http.StatusAccepted, Value: schema.DeliveriesRetried{
		Status: schema.Success, Retried: len(ids), IDs: ids, HasMore: more,
	}}
}

// old is a delivery that is made anew.
type old struct{ id, event string }

// single is one that was asked for by its id.
type single struct {
	old

	webhook string
}

// retriable finds a delivery of the caller's and locks it, or says why it cannot
// be retried.
func retriable(tx *state.Tx, c *api.Call, id string, now time.Time) (d single, err error) {
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
		return d, fmt.Errorf("reading the delivery to retry: %w", err)
	}
	switch {
	case retriedAs != "":
		return d, schema.Refuse(schema.InvalidRequest, "id", "This delivery was retried already, as "+retriedAs+".")
	case stands == schema.DeliveryWaiting && token != "" && due > now.UnixMicro():
		return d, schema.Refuse(schema.InvalidRequest, "id", "An attempt of this delivery is under way.")
	case stands == schema.DeliveryWaiting:
		return d, schema.Refuse(schema.InvalidRequest, "id", "This delivery is still waiting: its next attempt is at "+shownInstant(due)+".")
	}
	return d, notDeleted(tx, d.webhook)
}

// notDeleted refuses what is for a subscription that is gone.
func notDeleted(q state.Querier, webhook string) error {
	var deleted bool
	if err := q.QueryRow("SELECT deleted_at IS NOT NULL FROM webhook WHERE id = $1", webhook).Scan(&deleted); err != nil {
		return fmt.Errorf("reading the webhook of a retry: %w", err)
	}
	if deleted {
		return schema.Refuse(schema.InvalidRequest, "webhook_id", "The webhook "+webhook+" was deleted.")
	}
	return nil
}

// setRetriedAs links the deliveries that were retried with those that were made.
var setRetriedAs = state.Group(0, "UPDATE delivery SET retried_as = v.column2 FROM (VALUES ", "(?, ?)",
	") AS v WHERE delivery.id = v.column1")

// again makes a new delivery for each of some that are over, due now, and returns
// their ids. What another call makes anew at the same moment is left to it.
func (s *Service) again(tx *state.Tx, c *api.Call, webhook string, over []old) ([]string, error) {
	now := s.Now()
	all := make([]fresh, len(over))
	for i, o := range over {
		all[i] = fresh{id: newID(now), event: o.event, webhook: webhook, account: c.Account, world: c.World, retryOf: o.id, dueAt: now.UnixMicro()}
	}
	stored, err := insertFresh(tx, all, now)
	if err != nil {
		return nil, err
	}
	made := []string{}
	var links []any
	for i, d := range all {
		if stored[i] {
			made = append(made, d.id)
			links = append(links, d.retryOf, d.id)
		}
	}
	err = setRetriedAs.Each(len(made), func(text string, from, to int) error {
		_, err := tx.Exec(text, links[2*from:2*to]...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("linking %d retries: %w", len(made), err)
	}
	if len(made) > 0 {
		tx.After(func() { s.Wake(webhook) })
	}
	return made, nil
}

// wanted is the body of POST /v1/deliveries/retry.
type wanted struct {
	Webhook *string `json:"webhook_id"`
	From    *string `json:"from"`
	To      *string `json:"to"`
}

// filter is which deliveries a body asks for, with every fault of it.
func (w *wanted) filter() (f filter, err error) {
	var faults schema.Faults
	if w.Webhook == nil || *w.Webhook == "" {
		faults.Add("webhook_id", "The webhook whose failed deliveries are to be retried is needed.")
	} else {
		f.webhook = *w.Webhook
	}
	params := map[string]string{}
	for name, text := range map[string]*string{"from": w.From, "to": w.To} {
		if text != nil {
			params[name] = *text
		}
	}
	f.from, f.to = page.Span(&faults, params)
	return f, faults.Problem()
}

// selectFailed begins the question for failed deliveries that were not retried
// yet; its index is delivery_retriable_webhook.
const selectFailed = "SELECT d.id, d.event_id FROM delivery d WHERE d.state = 'failed' AND d.retried_as = '' AND d.webhook_id = $1"

// failed are the oldest failed deliveries of a filter, one more than a call
// makes anew when there are more.
func (f *filter) failed(q state.Querier) ([]old, error) {
	question := question{selectFailed, []any{f.webhook}}
	f.ids(&question)
	f.instants(&question)
	question.args = append(question.args, retryMost+1)
	question.text += fmt.Sprintf(" ORDER BY d.id LIMIT $%d", len(question.args))
	all, err := state.All(q, func(row state.Scanner) (o old, err error) {
		err = row.Scan(&o.id, &o.event)
		return o, err
	}, question.text, question.args...)
	if err != nil {
		return nil, fmt.Errorf("looking for failed deliveries: %w", err)
	}
	return all, nil
}

// retryFailed answers POST /v1/deliveries/retry.
func (s *Service) retryFailed(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	body, err := api.Decode[wanted](c)
	if err != nil {
		return api.Response{}, err
	}
	f, err := body.filter()
	if err != nil {
		return api.Response{}, err
	}
	return s.Change(func(c *api.Call, tx *state.Tx) (api.Response, account.Entry, error) {
		mine, err := owns(tx, c, "webhook", f.webhook)
		if err == nil && !mine {
			err = schema.NoWebhook("webhook_id")
		}
		if err == nil {
			err = notDeleted(tx, f.webhook)
		}
		if err != nil {
			return api.Response{}, account.Entry{}, err
		}
		over, err := f.failed(tx)
		if err != nil {
			return api.Response{}, account.Entry{}, err
		}
		more := len(over) > retryMost
		made, err := s.again(tx, c, f.webhook, over[:min(len(over), retryMost)])
		if err != nil || len(made) == 0 {
			return retried(made, more), account.Entry{}, err
		}
		return retried(made, more), account.Entry{Action: retryAction, Subject: f.webhook, Detail: map[string]any{"retried": len(made), "has_more": more}}, nil
	})(c)
}
