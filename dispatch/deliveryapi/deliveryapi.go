// Package deliveryapi serves deliveries and their attempts: lists, details, manual retries, and the health of a
// webhook. It reads the tables of package delivery, which alone writes them.
package deliveryapi

import (
	"net/http"

	"vayu/dispatch/delivery"
	"vayu/internal/access"
	"vayu/internal/httpapi"
	"vayu/schema"
)

// API serves the endpoints of deliveries. It is safe for concurrent use.
type API struct {
	Deliveries *delivery.Service
	// Change is access.Service.Change. It returns a handler that runs a change and writes its audit entry in one
	// transaction.
	Change func(access.Changer) httpapi.Handler
}

// Routes returns the endpoints that list, show and retry deliveries, and the endpoint of
// a webhook's health.
func (a *API) Routes() []httpapi.Route {
	const (
		manage = string(schema.WebhooksManage)
		body   = httpapi.SmallBody
	)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/deliveries", Scope: manage, Params: []string{"state", "retried", "status_class", "webhook_id", "event_id", "type", "from", "to", "limit", "cursor"}, Handler: a.list},
		{Method: http.MethodGet, Path: "/v1/webhooks/{id}/deliveries", Scope: manage, Params: []string{"state", "retried", "status_class", "event_id", "type", "from", "to", "limit", "cursor"}, Handler: a.listOfWebhook},
		{Method: http.MethodGet, Path: "/v1/webhooks/{id}/health", Scope: manage, Body: 0, Handler: a.health},
		{Method: http.MethodGet, Path: "/v1/deliveries/{id}", Scope: manage, Body: 0, Handler: a.get},
		{Method: http.MethodPost, Path: "/v1/deliveries/{id}/retry", Scope: manage, Body: body, Handler: a.retry},
		{Method: http.MethodPost, Path: "/v1/deliveries/retry", Scope: manage, Body: body, Handler: a.retryFailed},
	}
}
