package deliveryapi

import (
	"fmt"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const (
	// healthMost is the maximum number of deliveries that determine a webhook's health. With eight attempts each, the
	// query reads 8,000 attempts by their key.
	healthMost = 1000
	// A webhook is healthy only if its newest healthRecent attempts were all acknowledged. With a smaller number, a
	// failure would soon have no effect. With a larger number, a repaired endpoint would stay degraded for hours.
	healthRecent = 20
	// A webhook is failing if at least the newest failingFrom attempts have failed. The first three attempts of a
	// delivery span 40 s. A restart of the receiver makes one or two of these attempts fail. A longer failure makes all
	// three fail.
	failingFrom = 3
)

// selectHealth reads the newest deliveries of a webhook with their attempts, by the index delivery_webhook and the
// primary key of the table "attempt". It skips deliveries that wait for their first attempt. Otherwise a backlog of new
// deliveries would leave no room for attempted ones.
const selectHealth = `SELECT d.id, d.state, d.created_at, COALESCE(a.number, 0), a.at, a.duration, a.stage, a.http_status, a.error
	FROM (SELECT id, state, created_at FROM delivery WHERE webhook_id = $1 AND (attempts > 0 OR state <> 'waiting')
		ORDER BY id DESC LIMIT $2) AS d
	LEFT JOIN attempt a ON a.delivery_id = d.id`

// selectOpen counts the waiting and the failed deliveries of a webhook, by the partial indexes of these states. It also
// returns when the oldest waiting delivery was created, and when the next waiting delivery without a lease is due.
const selectOpen = `SELECT COUNT(*), COALESCE(MIN(created_at), 0), COALESCE(MIN(CASE WHEN token = '' OR due_at <= $2 THEN due_at END), 0),
	(SELECT COUNT(*) FROM delivery WHERE webhook_id = $1 AND state = 'failed'),
	(SELECT COUNT(*) FROM delivery WHERE webhook_id = $1 AND state = 'failed' AND retried_as = '')
	FROM delivery WHERE webhook_id = $1 AND state = 'waiting'`

func (a *API) health(c *httpapi.Call) (httpapi.Response, error) {
	webhook, view := mux.Vars(c.Request)["id"], a.Deliveries.DB.View(c.Context())
	w, err := webhookOf(view, c, webhook, "id")
	if err == nil && w.deleted {
		err = schema.NoWebhook("id")
	}
	if err != nil {
		return httpapi.Response{}, err
	}
	t := &healthStats{webhook: webhook, now: a.Deliveries.Now().UnixMicro(), all: map[string]healthDelivery{}}
	err = sqlstore.Each(view, t.add, selectHealth, webhook, healthMost+1)
	if err == nil {
		err = view.QueryRow(selectOpen, webhook, t.now).Scan(&t.states.Waiting, &t.oldest, &t.next, &t.states.Failed, &t.states.Unretried)
	}
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("reading the health of a webhook: %w", err)
	}
	return httpapi.Response{Value: t.response(w.active)}, nil
}
