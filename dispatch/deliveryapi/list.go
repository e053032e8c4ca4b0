package deliveryapi

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

func (a *API) list(c *httpapi.Call) (httpapi.Response, error) {
	return a.answer(c, c.Params)
}

func (a *API) listOfWebhook(c *httpapi.Call) (httpapi.Response, error) {
	webhook := mux.Vars(c.Request)["id"]
	if _, err := webhookOf(a.Deliveries.DB.View(c.Context()), c, webhook, "id"); err != nil {
		return httpapi.Response{}, err
	}
	c.Params["webhook_id"] = webhook
	return a.answer(c, c.Params)
}

func (a *API) answer(c *httpapi.Call, params map[string]string) (httpapi.Response, error) {
	f, list, err := a.filterOf(c, params)
	if err != nil {
		return httpapi.Response{}, err
	}
	reply := schema.List[schema.Delivery]{Status: schema.Success, Data: []schema.Delivery{}}
	view := a.Deliveries.DB.View(c.Context())
	mine, err := f.allowed(view, c)
	if err != nil || !mine || len(f.readable) == 0 {
		return httpapi.Response{Value: reply}, err
	}
	all, next, err := f.page(view, c, a.Deliveries.Now())
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing deliveries: %w", err)
	}
	reply.Data = append(reply.Data, all...)
	if reply.HasMore = next != ""; reply.HasMore {
		reply.NextCursor = pagination.Cursor(c, list, next)
	}
	return httpapi.Response{Value: reply}, nil
}

// filterOf parses parameters and reports all their errors. `list` is a text that identifies the filter. Cursors contain
// it, so that a client cannot use a cursor with another filter.
func (a *API) filterOf(c *httpapi.Call, params map[string]string) (f filter, list string, err error) {
	var faults schema.RequestErrors
	f = filter{state: schema.DeliveryState(params["state"]), retried: params["retried"], class: params["status_class"], webhook: params["webhook_id"], event: params["event_id"], readable: c.Scopes.Readable()}
	if f.state != "" && !slices.Contains(schema.DeliveryStates, f.state) {
		faults.Add("state", "The state must be waiting, delivered, failed or cancelled.")
	}
	if f.retried != "" && f.retried != "true" && f.retried != "false" {
		faults.Add("retried", "The parameter retried must be true or false.")
	}
	if f.class != "" && statusClasses[f.class] == "" {
		faults.Add("status_class", "The parameter status_class must be 2xx, 3xx, 4xx, 5xx or none.")
	}
	typ := schema.EventType(params["type"])
	switch {
	case typ == "":
	case !slices.Contains(schema.EventTypes, typ):
		faults.AddAs(schema.UnknownEventType, "type", "Unknown event type.")
	case !c.Scopes.Has(typ.Scope()):
		return f, "", schema.UnreadableEvent("type", typ)
	default:
		f.readable = []schema.EventType{typ}
	}
	f.from, f.to = pagination.TimeRange(&faults, params)
	list = "deliveries?" + url.Values{
		"state": {params["state"]}, "retried": {f.retried}, "webhook_id": {f.webhook}, "event_id": {f.event},
		"from": {strconv.FormatInt(f.from, 10)}, "to": {strconv.FormatInt(f.to, 10)},
	}.Encode()
	if typ != "" {
		list += "&type=" + string(typ)
	}
	if f.class != "" {
		list += "&status_class=" + f.class
	}
	f.limit, f.after = pagination.Limit(&faults, params), pagination.ReadCursor(&faults, c, list, params)
	return f, list, faults.Problem()
}

// allowed reports whether the webhook and the event of a filter belong to the caller.
func (f *filter) allowed(q sqlstore.Querier, c *httpapi.Call) (bool, error) {
	for table, id := range map[string]string{"webhook": f.webhook, "event": f.event} {
		if id == "" {
			continue
		}
		if mine, err := owns(q, c, table, id); err != nil || !mine {
			return false, err
		}
	}
	return true, nil
}

func (a *API) get(c *httpapi.Call) (httpapi.Response, error) {
	d, err := detailed(a.Deliveries.DB.View(c.Context()), c, mux.Vars(c.Request)["id"], a.Deliveries.Now())
	if err == nil && !c.Scopes.Has(d.EventType.Scope()) { // the reply has the attempts, which may quote the event
		err = schema.UnreadableEvent("", d.EventType)
	}
	return httpapi.Response{Value: Reply{Status: schema.Success, Data: d}}, err
}
