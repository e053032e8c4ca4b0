package delivery

import (
	"net/http"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Routes returns the endpoints that list, show and retry deliveries, and that of a
// webhook's health.
func (s *Service) Routes() []httpapi.Route {
	const (
		manage = string(schema.WebhooksManage)
		body   = httpapi.SmallBody
	)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/deliveries", Scope: manage, Body: 0, Handler: s.list},
		{Method: http.MethodGet, Path: "/v1/webhooks/{id}/deliveries", Scope: manage, Body: 0, Handler: s.listOfWebhook},
		{Method: http.MethodGet, Path: "/v1/webhooks/{id}/health", Scope: manage, Body: 0, Handler: s.health},
		{Method: http.MethodGet, Path: "/v1/deliveries/{id}", Scope: manage, Body: 0, Handler: s.get},
		{Method: http.MethodPost, Path: "/v1/deliveries/{id}/retry", Scope: manage, Body: body, Handler: s.retry},
		{Method: http.MethodPost, Path: "/v1/deliveries/retry", Scope: manage, Body: body, Handler: s.retryFailed},
	}
}
