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
func (b *Cache) Routes() []httpapi.Route {
	const (
		scope = string(schema.WebhooksManage)
		one   = path + "/{id}"
		body  = httpapi.SmallBody
	)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: scope, Body: body, Handler: b.post},
		{Method: http.MethodGet, Path: path, Scope: scope, Params: []string{"limit", "cursor"}, Handler: b.list},
		{Method: http.MethodGet, Path: one, Scope: scope, Handler: b.get},
		{Method: http.MethodPatch, Path: one, Scope: scope, Body: body, Handler: b.patchOne},
		{Method: http.MethodDelete, Path: one, Scope: scope, Handler: b.deleteOne},
		{Method: http.MethodPost, Path: one + "/rotate-secret", Scope: scope, Body: body, Handler: b.rotate},
		{Method: http.MethodPost, Path: one + "/test", Scope: scope, Body: body, Handler: b.test},
	}
}

func idOf(c *httpapi.Call) string { return mux.Vars(c.Request)["id"] }

// changed runs a change in a transaction, and then refreshes the cache of this instance before the reply.
func (b *Cache) changed(c *httpapi.Call, do access.Changer) (httpapi.Response, error) {
	resp, err := b.Change(do)(c)
	if err == nil {
		_ = b.Refresh(context.WithoutCancel(c.Context())) // failures are counted, and the background refresh retries
	}
	return resp, err
}

func shown(status int, made Made) httpapi.Response {
	return httpapi.Response{Status: status, Value: schema.WebhookReply{Status: schema.Success, Webhook: made.Webhook, Secret: made.Secret}}
}

// list answers GET /v1/webhooks.
func (b *Cache) list(c *httpapi.Call) (httpapi.Response, error) {
	const name = "webhooks"
	var f schema.RequestErrors
	limit, after := pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, name, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	rows, err := list(b.DB.View(c.Context()), c.Owner(), after, limit+1)
	if err != nil {
		return httpapi.Response{}, err
	}
	now := b.Now()
	return pagination.Reply(rows, limit,
		func(r *record) (schema.Webhook, error) { return r.wire(now), nil },
		func(r *record) *string { return pagination.Cursor(c, name, r.ID) })
}

func (b *Cache) get(c *httpapi.Call) (httpapi.Response, error) {
	r, err := recordOf(b.DB.View(c.Context()), c.Owner(), idOf(c))
	if err != nil {
		return httpapi.Response{}, err
	}
	return shown(http.StatusOK, Made{Webhook: r.wire(b.Now())}), nil
}

func (b *Cache) post(c *httpapi.Call) (httpapi.Response, error) {
	spec, err := b.specOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return b.changed(c, func(_ *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		made, e, err := b.Create(tx, spec, b.Now())
		resp := shown(http.StatusCreated, made)
		resp.Location = path + "/" + made.Webhook.ID
		return resp, e, err
	})
}

func (b *Cache) patchOne(c *httpapi.Call) (httpapi.Response, error) {
	p, err := b.patchOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return b.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		w, e, err := b.Update(tx, c.Owner(), idOf(c), p, b.Now())
		return shown(http.StatusOK, Made{Webhook: w}), e, err
	})
}

func (b *Cache) deleteOne(c *httpapi.Call) (httpapi.Response, error) {
	return b.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		e, err := b.Delete(tx, c.Owner(), idOf(c), b.Now())
		return httpapi.Response{Value: schema.WebhookDeleted{Status: schema.Success, ID: idOf(c), Deleted: true}}, e, err
	})
}

// rotate answers POST /v1/webhooks/{id}/rotate-secret. It delays the reply until all instances sign with the new
// secret.
func (b *Cache) rotate(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := rotationOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	resp, err := b.changed(c, func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		made, e, err := b.Rotate(tx, c.Owner(), idOf(c), wanted, b.Now())
		return shown(http.StatusOK, made), e, err
	})
	if err == nil { // also for a stored reply, because the first reply may still be delayed
		sleep.For(c.Context(), rotateDelay)
	}
	return resp, err
}

func (b *Cache) test(c *httpapi.Call) (httpapi.Response, error) {
	wanted, err := testOf(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	return b.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		r, event, err := testable(tx, c.Owner(), idOf(c), wanted)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		eventID, deliveryID, err := b.Test(tx, &r.Subscription, event)
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
