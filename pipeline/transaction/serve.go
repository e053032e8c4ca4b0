package transaction

import (
	"context"
	"fmt"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

// ServeList answers GET of the transactions of an account.
func (c *Core[R, P]) ServeList(call *httpapi.Call) (httpapi.Response, error) {
	f, name, err := readFilter(call, c.kind.List, c.kind.States)
	if err != nil {
		return httpapi.Response{}, err
	}
	all, next, err := c.kind.Page(c.o.DB.View(call.Context()), f)
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing %s: %w", c.kind.List, err)
	}
	reply := schema.List[any]{Status: schema.Success, Data: []any{}}
	for i := range all {
		reply.Data = append(reply.Data, c.kind.Reply(&all[i]))
	}
	if reply.HasMore = next != ""; reply.HasMore {
		reply.NextCursor = pagination.Cursor(call, name, next)
	}
	return httpapi.Response{Value: reply}, nil
}

// ServeOne answers GET of one transaction, with its calls if the view is detail.
func (c *Core[R, P]) ServeOne(call *httpapi.Call) (httpapi.Response, error) {
	detailed, err := detailRequested(call)
	if err != nil {
		return httpapi.Response{}, err
	}
	id := mux.Vars(call.Request)["id"]
	if detailed {
		r, calls, err := c.Timeline(call.Context(), call.Owner(), id)
		if err != nil {
			return httpapi.Response{}, err
		}
		return httpapi.Response{Value: c.kind.Detail(&r, calls)}, nil
	}
	r, err := c.Find(call.Context(), call.Owner(), id)
	if err != nil {
		return httpapi.Response{}, err
	}
	return httpapi.Response{Value: c.kind.Reply(&r)}, nil
}

// detailRequested reports whether a GET of one object has the parameter view=detail. Any
// other parameter or value is an error.
func detailRequested(c *httpapi.Call) (bool, error) {
	view, found := c.Params["view"]
	if found && view != "detail" {
		return false, schema.NewProblem(schema.InvalidRequest, "view", "The only view there is, is detail.")
	}
	return found, nil
}

// Timeline returns a transaction of an owner, with the steps of its calls. The error is
// not_found if the owner has no such transaction.
func (c *Core[R, P]) Timeline(ctx context.Context, o schema.Owner, id string) (r R, calls schema.ProviderCalls, err error) {
	if !schema.IsID(id) {
		return r, calls, c.kind.Missing
	}
	view := c.o.DB.View(ctx)
	r, steps, err := readWithSteps(view, id, func() (R, error) { return c.Find(ctx, o, id) },
		func(r *R) bool { return !P(r).Shared().FinishedAt.IsZero() })
	if err != nil {
		return r, calls, err
	}
	b := P(&r).Shared()
	calls = schema.ProviderCalls{
		Provider: b.Provider, ProviderRef: b.ProviderRef, Enquiries: b.Tries,
		Steps: Timeline(c.kind.Summary(&r, len(steps) > 0), steps),
	}
	if P(&r).Status() == pendingState {
		calls.NextEnquiryAt, err = c.kind.nextPoll(view, id)
	}
	return r, calls, err
}
