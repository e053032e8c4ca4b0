package deliveryapi

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"vayu/dispatch/delivery"
	"vayu/internal/access/audit"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// retryRequest is the body of POST /v1/deliveries/retry. It selects the failed deliveries of a webhook or of the
// account, or deliveries by their ids.
type retryRequest struct {
	Webhook *string  `json:"webhook_id"`
	All     bool     `json:"all"`
	IDs     []string `json:"delivery_ids"`
	From    *string  `json:"from"`
	To      *string  `json:"to"`
}

// filter returns the filter that a body describes, and reports all errors in the body.
func (w *retryRequest) filter() (f filter, err error) {
	var faults schema.RequestErrors
	switch {
	case w.IDs != nil:
		w.checkIDs(&faults)
		return f, faults.Problem()
	case w.Webhook == nil && w.All:
	case w.Webhook == nil || *w.Webhook == "":
		faults.Add("webhook_id", "Send one of webhook_id, delivery_ids and all.")
	case w.All:
		faults.AddAs(schema.ConflictingParameters, "all", "Send either webhook_id or all, not both.")
	default:
		f.webhook = *w.Webhook
	}
	params := map[string]string{}
	for name, text := range map[string]*string{"from": w.From, "to": w.To} {
		if text != nil {
			params[name] = *text
		}
	}
	f.from, f.to = pagination.TimeRange(&faults, params)
	return f, faults.Problem()
}

// checkIDs checks that delivery_ids has 1 to retryMost different ids, and that the body has no other field.
func (w *retryRequest) checkIDs(faults *schema.RequestErrors) {
	for name, there := range map[string]bool{"webhook_id": w.Webhook != nil, "all": w.All, "from": w.From != nil, "to": w.To != nil} {
		if there {
			faults.AddAs(schema.ConflictingParameters, name, "The field "+name+" is not allowed with delivery_ids.")
		}
	}
	if len(w.IDs) == 0 || len(w.IDs) > retryMost {
		faults.Add("delivery_ids", "The field delivery_ids must have 1 to "+strconv.Itoa(retryMost)+" ids.")
		return
	}
	sorted := slices.Sorted(slices.Values(w.IDs))
	if len(slices.Compact(sorted)) < len(w.IDs) {
		faults.Add("delivery_ids", "The field delivery_ids has an id more than once.")
	}
}

// selectFailed is the start of the query for the failed deliveries of a webhook that were not retried. It uses the
// index delivery_retriable_webhook. selectAllFailed does the same for all webhooks of an account, except deleted ones.
// It uses the index delivery_retriable.
const (
	selectFailed    = "SELECT d.id, d.event_id, d.webhook_id FROM delivery d WHERE d.state = 'failed' AND d.retried_as = '' AND d.webhook_id = $1"
	selectAllFailed = `SELECT d.id, d.event_id, d.webhook_id FROM delivery d JOIN webhook w ON w.id = d.webhook_id AND w.deleted_at IS NULL
		WHERE d.state = 'failed' AND d.retried_as = '' AND d.account_id = $1 AND d.mode = $2`
)

// retriable returns the query for the oldest failed deliveries that match a filter. It reads up to one delivery more
// than a request retries, to detect that more remain.
func (f *filter) retriable(c *httpapi.Call) (string, []any) {
	q := query{selectFailed, []any{f.webhook}}
	if f.webhook == "" {
		q = query{selectAllFailed, []any{c.Account, c.World.String()}}
	}
	f.ids(&q)
	f.instants(&q)
	q.args = append(q.args, retryMost+1)
	return q.text + fmt.Sprintf(" ORDER BY d.id LIMIT $%d", len(q.args)), q.args
}

// failed returns the oldest failed deliveries that match a filter, at most one more than a request retries.
func (f *filter) failed(q sqlstore.Querier, c *httpapi.Call) ([]delivery.Original, error) {
	text, args := f.retriable(c)
	all, err := sqlstore.All(q, func(row sqlstore.Scanner) (o delivery.Original, err error) {
		err = row.Scan(&o.ID, &o.Event, &o.Webhook)
		return o, err
	}, text, args...)
	if err != nil {
		return nil, fmt.Errorf("reading failed deliveries: %w", err)
	}
	return all, nil
}

// byIDs locks and returns the deliveries with the given ids. It fails if one of them cannot be retried. It locks them
// in ascending order of their ids, so that two requests cannot deadlock.
func (a *API) byIDs(tx *sqlstore.Tx, c *httpapi.Call, ids []string) ([]delivery.Original, error) {
	places := make([]int, len(ids))
	for i := range places {
		places[i] = i
	}
	slices.SortFunc(places, func(a, b int) int { return strings.Compare(ids[a], ids[b]) })
	all := make([]delivery.Original, len(ids))
	for _, i := range places {
		d, err := delivery.LockOriginal(tx, c.Owner(), ids[i], a.Deliveries.Now())
		if p, refused := errors.AsType[*schema.Problem](err); refused && p.Code.Status() < 500 {
			return nil, schema.NewProblem(p.Code, "delivery_ids."+strconv.Itoa(i), p.Message)
		}
		if err != nil {
			return nil, err
		}
		all[i] = d
	}
	return all, nil
}

// selected returns the deliveries that a body selects, at most one more than a request retries. `about` is the subject
// of the audit entry: the id of the webhook or of the account.
func (a *API) selected(tx *sqlstore.Tx, c *httpapi.Call, body *retryRequest, f *filter) (all []delivery.Original, about string, err error) {
	if body.IDs != nil {
		all, err = a.byIDs(tx, c, body.IDs)
		return all, c.Account, err
	}
	if f.webhook == "" {
		all, err = f.failed(tx, c)
		return all, c.Account, err
	}
	w, err := webhookOf(tx, c, f.webhook, "webhook_id")
	if err == nil && w.deleted {
		err = delivery.DeletedWebhook(f.webhook)
	}
	if err != nil {
		return nil, "", err
	}
	all, err = f.failed(tx, c)
	return all, f.webhook, err
}

func (a *API) retryFailed(c *httpapi.Call) (httpapi.Response, error) {
	body, err := httpapi.Decode[retryRequest](c)
	if err != nil {
		return httpapi.Response{}, err
	}
	f, err := body.filter()
	if err != nil {
		return httpapi.Response{}, err
	}
	return a.Change(func(c *httpapi.Call, tx *sqlstore.Tx) (httpapi.Response, audit.Entry, error) {
		over, about, err := a.selected(tx, c, &body, &f)
		if err != nil {
			return httpapi.Response{}, audit.Entry{}, err
		}
		more := len(over) > retryMost
		made, err := a.Deliveries.Retry(tx, c.Owner(), over[:min(len(over), retryMost)])
		if err != nil || len(made) == 0 {
			return retried(made, more), audit.Entry{}, err
		}
		return retried(made, more), audit.Entry{Action: retryAction, Subject: about, Detail: map[string]any{"retried": len(made), "has_more": more}}, nil
	})(c)
}
