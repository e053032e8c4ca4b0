package outbox

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/gorilla/mux"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/schema"
)

// Routes returns the endpoints that list and show events.
func (o *Outbox) Routes() []httpapi.Route {
	const manage = string(schema.WebhooksManage)
	return []httpapi.Route{
		{Method: http.MethodGet, Path: "/v1/events", Scope: manage, Params: []string{"type", "subject", "order", "from", "to", "limit", "cursor"}, Handler: o.listEvents},
		{Method: http.MethodGet, Path: "/v1/events/{id}", Scope: manage, Body: 0, Handler: o.getEvent},
	}
}

// listEvents answers GET /v1/events. By default the oldest event comes first, so that a client can later continue from
// its last cursor. A key gets only events of the types that its scopes allow it to read.
func (o *Outbox) listEvents(c *httpapi.Call) (httpapi.Response, error) {
	var f schema.RequestErrors
	ask := filter{account: c.Account, mode: c.World.String(), typ: c.Params["type"], subject: c.Params["subject"], readable: c.Scopes.Readable()}
	if _, there := c.Params["type"]; there && !slices.Contains(schema.EventTypes, schema.EventType(ask.typ)) {
		f.AddAs(schema.UnknownEventType, "type", "Unknown event type.")
	}
	if _, there := c.Params["subject"]; there && !isSubject(ask.subject) {
		f.Add("subject", "The subject must be the id of a recharge (txn_), a verification (ver_), a payment (pay_), a batch (rbt_, bat_), an alert (alt_) or a webhook (wh_).")
	}
	switch c.Params["order"] {
	case "", "oldest":
	case "newest":
		ask.newest = true
	default:
		f.Add("order", "The order must be oldest or newest.")
	}
	ask.from, ask.to = pagination.TimeRange(&f, c.Params)
	list := "events/" + ask.typ + "/" + ask.subject + "/" + strconv.FormatInt(ask.from, 10) + "/" + strconv.FormatInt(ask.to, 10)
	if ask.newest {
		list += "/newest"
	}
	ask.limit, ask.after = pagination.Limit(&f, c.Params), pagination.ReadCursor(&f, c, list, c.Params)
	if err := f.Problem(); err != nil {
		return httpapi.Response{}, err
	}
	switch {
	case ask.typ != "" && !c.Scopes.Has(schema.EventType(ask.typ).Scope()):
		return httpapi.Response{}, schema.UnreadableEvent("type", schema.EventType(ask.typ))
	case len(ask.readable) == 0:
		return verbatim(schema.List[json.RawMessage]{Status: schema.Success, Data: []json.RawMessage{}})
	}
	envelopes, next, err := ask.find(o.DB.View(c.Context()))
	if err != nil {
		return httpapi.Response{}, fmt.Errorf("listing events: %w", err)
	}
	reply := schema.List[json.RawMessage]{Status: schema.Success, Data: envelopes, HasMore: next != ""}
	if reply.HasMore {
		reply.NextCursor = pagination.Cursor(c, list, next)
	}
	return verbatim(reply)
}

func (o *Outbox) getEvent(c *httpapi.Call) (httpapi.Response, error) {
	var kind schema.EventType
	var envelope []byte
	id, err := mux.Vars(c.Request)["id"], sql.ErrNoRows
	if !timeOf(id).IsZero() {
		err = o.DB.View(c.Context()).QueryRow("SELECT type, envelope FROM event WHERE id = $1 AND account_id = $2 AND mode = $3",
			id, c.Account, c.World.String()).Scan(&kind, &envelope)
	}
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return httpapi.Response{}, schema.NewProblem(schema.NotFound, "", "There is no such event. Events are kept for 30 days.")
	case err != nil:
		return httpapi.Response{}, fmt.Errorf("reading an event: %w", err)
	case !c.Scopes.Has(kind.Scope()):
		return httpapi.Response{}, schema.UnreadableEvent("", kind)
	}
	return verbatim(schema.EventReply{Status: schema.Success, Data: envelope})
}

// verbatim encodes a reply without changing the stored envelopes in it. json.Marshal would escape HTML characters in
// them.
func verbatim(reply any) (httpapi.Response, error) {
	body, err := encode(reply)
	return httpapi.Response{Body: body}, err
}
