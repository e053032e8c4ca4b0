package subscription

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"vayu/internal/access"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

const path = "/v1/webhooks"

// Routes returns the endpoints under /v1/webhooks, except the endpoints of package deliveryapi.
func (cache *Cache) Routes() []httpapi.Route {
	const (
		scope = string(schema.WebhooksManage)
		one   = path + "/{id}"
		body  = httpapi.SmallBody
	)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: scope, Body: body, Handler: cache.post},
		{Method: http.MethodGet, Path: path, Scope: scope, Params: []string{"limit", "cursor"}, Handler: cache.list},
		{Method: http.MethodGet, Path: one, Scope: scope, Handler: cache.get},
		{Method: http.MethodPatch, Path: one, Scope: scope, Body: body, Handler: cache.patchOne},
		{Method: http.MethodDelete, Path: one, Scope: scope, Handler: cache.deleteOne},
		{Method: http.MethodPost, Path: one + "/rotate-secret", Scope: scope, Body: body, Handler: cache.rotate},
		{Method: http.MethodPost, Path: one + "/test", Scope: scope, Body: body, Handler: cache.test},
	}
}

func idOf(c *httpapi.Call) string { return mux.Vars(c.Request)["id"] }

// changed runs a change in a transaction, and then refreshes the cache of this instance before the reply.
func (cache *Cache) changed(c *httpapi.Call, do access.Changer) (httpapi.Response, error) {
	resp, err := cache.Change(do)(c)
	if err == nil {
		_ = cache.Refresh(context.WithoutCancel(c.Context())) // failures are counted, and the background refresh retries
	}
	return resp, err
}

func shown(status int, made Made) httpapi.Response {
	return httpapi.Response{Status: status, Value: schema.WebhookReply{Status: schema.Success, Webhook: made.Webhook, Secret: made.Secret}}
}

// list answers GET /v1/webhooks.
func (cache *Cache) list(c *httpapi.Call) (httpapi.Response, error) {
	const name = "webhooks"
	var f schema.RequestErrors
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, name, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := list(cache.DB.View(c.Context()), c.Owner(), after, limit+1)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := cache.Now()
	return pagination.Reply(rows, limit,
		func(r *record) (schema.Webhook, error) { return r.wire(now), nil },
		func(r *record) *string { return pagination.Cursor(c, name, r.ID) })
}

func (cache *Cache) get(c *httpapi.Call) (httpapi.Response, error) {
	r, err := recordOf(cache.DB.View(c.Context()), c.Owner(), idOf(c))
	if err != nil {
		return httpapi.Response{}, err
	}
	return shown(http.StatusOK, Made{Webhook: r.wire(cache.Now())}), nil
}

func (cache *Cache) post(c *httpapi.Call) (httpapi.Response, error) {
	spec, err := cache.specOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return cache.changed(c, func(_ *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		made, e, err := cache.Create(tx, spec, cache.Now())
		resp := shown(http.StatusCreated, made)
		resp.Location = path + "/" + made.Webhook.ID
		return resp, e, err
	})
}

func (cache *Cache) patchOne(c *httpapi.Call) (httpapi.Response, error) {
	p, err := cache.patchOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return cache.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		w, e, err := cache.Update(tx, c.Owner(), idOf(c), p, cache.Now())
		return shown(http.StatusOK, Made{Webhook: w}), e, err
	})
}

func (cache *Cache) deleteOne(c *httpapi.Call) (httpapi.Response, error) {
	return cache.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		e, err := cache.Delete(tx, c.Owner(), idOf(c), cache.Now())
		return httpapi.Response{Value: schema.WebhookDeleted{Status: schema.Success, ID: idOf(c), Deleted: true}}, e, err
	})
}

// rotate answers POST /v1/webhooks/{id}/rotate-secret. It delays the reply until all instances sign with the new
// secret.
func (cache *Cache) rotate(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := rotationOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err := cache.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		made, e, err := cache.Rotate(tx, c.Owner(), idOf(c), wanted, cache.Now())
		return shown(http.StatusOK, made), e, err
	})
	if err == nil { // also for the replayed reply to a repeated request: the original reply may still be delayed
		sleep.For(c.Context(), rotateDelay)
	}
	return resp, err
}

func (cache *Cache) test(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := testOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return cache.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		r, event, err := testable(tx, c.Owner(), idOf(c), wanted)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		eventID, deliveryID, err := cache.Test(tx, &r.Subscription, event)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		return httpapi.Response{Status: http.StatusAccepted, Value: schema.WebhookTested{
				Status: schema.Success, EventID: eventID, DeliveryID: deliveryID,
			}}, entry("webhook.test", r, map[string]any{
				"type": event, "event_id": eventID, "delivery_id": deliveryID,
			}), nil
	})(c)
}
