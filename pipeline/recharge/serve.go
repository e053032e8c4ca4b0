package recharge

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/gorilla/mux"

	"vayu/internal/access/idempotency"
	"vayu/internal/httpapi"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/request"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

const path = "/v1/recharge"

const (
	// defaultWait limits the wait for a final state if the client requests no wait. Replies then take less than 1 s.
	defaultWait = 800 * time.Millisecond
	// longestWait limits the wait that a client can request or that a refund takes. It is half of the server's timeout.
	longestWait = 30 * time.Second
)

// Routes returns the endpoints of recharges, operators and plans, without those of batches and callbacks.
func (s *Service) Routes() []httpapi.Route {
	const (
		write = string(schema.RechargeWrite)
		read  = string(schema.RechargeRead)
		body  = httpapi.SmallBody
		one   = path + "/{id}"
	)
	return []httpapi.Route{
		{Method: http.MethodPost, Path: path, Scope: write, Limit: httpapi.Money, Body: body, Handler: s.post},
		{Method: http.MethodGet, Path: path, Scope: read, Params: slices.Concat(transaction.ListParams, request.ListParams), Handler: s.Core.ServeList},
		{Method: http.MethodGet, Path: one, Scope: read, Params: []string{"view"}, Handler: s.Core.ServeOne},
		{Method: http.MethodPost, Path: one + "/refund", Scope: write, Limit: httpapi.Money, Body: body, Handler: s.postRefund},
		{Method: http.MethodGet, Path: "/v1/operators", Scope: read, Params: []string{"type"}, Handler: s.operators},
		{Method: http.MethodGet, Path: "/v1/operators/detect", Scope: read, Params: []string{"mobile"}, Handler: s.detectOperator},
		{Method: http.MethodGet, Path: "/v1/plans", Scope: read, Params: []string{"operator", "circle"}, Handler: s.plans},
	}
}

// idOf returns the recharge id in the path of a request.
func idOf(c *httpapi.Call) string { return mux.Vars(c.Request)["id"] }

// post answers POST /v1/recharge.
func (s *Service) post(c *httpapi.Call) (httpapi.Response, error) {
	r, err := request.Parse(c.Body)
	if err != nil {
		return httpapi.Response{}, err
	}
	r.Owner, r.Caller = c.Owner(), c.Who()
	wait, preferred := httpapi.PreferWait(c.Header["Prefer"], longestWait)
	if !preferred {
		wait = defaultWait
	}
	r.WaitFull = preferred
	rec, replayed, err := s.Do(c.Context(), r, wait)
	if err != nil {
		return httpapi.Response{}, err
	}
	value := record.Reply(&rec)
	if value.Error != nil {
		value.Error.RequestID = c.ID
	}
	resp := httpapi.Response{Status: statusOf(&rec), Value: value, Replayed: replayed}
	if resp.Status == http.StatusAccepted {
		resp.Location = path + "/" + rec.ID
	}
	return resp, nil
}

// statusOf returns the HTTP status of the reply to POST /v1/recharge.
func statusOf(r *record.Record) int {
	switch r.State {
	case schema.RechargePending:
		return http.StatusAccepted
	case schema.RechargeFailed:
		return r.ErrorCode.Status()
	default:
		return http.StatusOK
	}
}

// postRefund answers POST /v1/recharge/{id}/refund.
func (s *Service) postRefund(c *httpapi.Call) (httpapi.Response, error) {
	reason, err := request.Reason(c)
	if err != nil {
		return httpapi.Response{}, err
	}
	once, err := idempotency.Parse(s.Cipher, c)
	if err != nil {
		return httpapi.Response{}, err
	}
	before, err := once.CreatedPath(s.DB.View(c.Context()), s.Now())
	if err != nil {
		return httpapi.Response{}, err
	}
	// The timeout of the provider may exceed the time within which the server must reply.
	ctx, cancel := context.WithTimeout(c.Context(), longestWait)
	defer cancel()
	rec, err := s.Refund(ctx, c.Owner(), idOf(c), RefundRequest{Reason: reason, By: c.Who(), Once: once})
	if err != nil {
		return httpapi.Response{}, err
	}
	resp := httpapi.Response{Status: http.StatusOK, Value: record.Reply(&rec), Replayed: before != ""}
	if rec.State != schema.RechargeRefunded {
		resp.Status, resp.Location = http.StatusAccepted, path+"/"+rec.ID
	}
	return resp, nil
}
