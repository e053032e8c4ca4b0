package recharge

import (
	"net/http"

	"vayu/internal/httpapi"
	"vayu/schema"
)

// Routes returns the endpoints of recharges, except those of batches and callbacks.
func (s *Service) Routes() []httpapi.Route {
	const (
		write = string(schema.RechargeWrite)
		read  = string(schema.RechargeRead)
		body  = httpapi.SmallBody
		one   = path + "/{id}"
	)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: write, Limit: httpapi.Money, Body: body, Handler: s.post},
		{Method: http.MethodGet, Path: path, Scope: read, Handler: s.ServeList},
		{Method: http.MethodGet, Path: one, Scope: read, Handler: s.ServeOne},
		{Method: http.MethodPost, Path: one + "/refund", Scope: write, Limit: httpapi.Money, Body: body, Handler: s.postRefund},
		{Method: http.MethodGet, Path: "/v1/operators", Scope: read, Handler: s.operators},
		{Method: http.MethodGet, Path: "/v1/operators/detect", Scope: read, Handler: s.detectOperator},
		{Method: http.MethodGet, Path: "/v1/plans", Scope: read, Handler: s.plans},
	}
}
