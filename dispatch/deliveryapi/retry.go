package deliveryapi

import (
	"net/http"

	"github.com/gorilla/mux"

	"vayu/dispatch/delivery"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// retryMost is the maximum number of deliveries that one request retries. A transaction with that many takes tens of
// milliseconds, and on SQLite other writes wait for it.
const retryMost = 1000

const retryAction = "delivery.retry"

func (a *API) retry(c *httpapi.Call) (httpapi.Response, error) {
	if _, err := httpapi.DecodeOptional[struct{}](c); err != nil {
		return httpapi.Response{}, err
	}
	return a.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		d, err := delivery.LockOriginal(tx, c.Owner(), mux.Vars(c.Request)["id"], a.Deliveries.Now())
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		made, err := a.Deliveries.Retry(tx, c.Owner(), []delivery.Original{d})
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return retried(made, false), audit.Entry{Action: retryAction, Subject: d.ID, Detail: map[string]any{"delivery_id": made[0], "webhook_id": d.Webhook}}, nil
	})(c)
}

func retried(ids []string, more bool) httpapi.Response {
	return httpapi.Response{Status: http.StatusAccepted, Value: schema.DeliveriesRetried{
		Status: schema.Success, Retried: len(ids), IDs: ids, HasMore: more,
	}}
}
