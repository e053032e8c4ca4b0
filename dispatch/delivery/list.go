package delivery

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/mux"
	"github.com/oklog/ulid/v2"

	"vayu/internal/api"
	"vayu/internal/page"
	"vayu/internal/state"
	"vayu/schema"
)

// filter is which deliveries are asked for.
type filter struct {
	state          schema.DeliveryState // "" for all
	webhook, event string               // "" for all
	from, to       int64                // microseconds; to is not part of it
	after          string               // the last of the page before
	limit          int
}

// query is the statement of a filter for one more than its limit, and its
// values. A webhook or an event belongs to one account, and is known to be the
// caller's: asking for the account beside it would only lead the planner astray.
func (f *filter) query(c *api.Call) (text string, args []any) {
	var b strings.Builder
	b.WriteString("SELECT " + shownColumns + " FROM delivery d JOIN event e ON e.id = d.event_id WHERE ")
	where := func(condition string, value any) {
		if len(args) > 0 {
			b.WriteString(" AND ")
		}
		args = append(args, value)
		b.WriteString(condition + "$" + strconv.Itoa(len(args)))
	}
	switch {
	case f.webhook == "" && f.event == "":
		where("d.account_id = ", c.Account)
		where("d.mode = ", c.World.String())
	default:
		if f.event != "" {
			where("d.event_id = ", f.event)
		}
		if f.webhook != "" {
			where("d.webhook_id = ", f.webhook)
		}
	}
	f.span(where)
	if f.after != "" {
		where("d.id < ", f.after)
	}
	if f.state != "" { // as it is, because only so an index of failed ones is seen to fit
		b.WriteString(" AND d.state = '" + string(f.state) + "'")
	}
	args = append(args, f.limit+1)
	b.WriteString(" ORDER BY d.id DESC LIMIT $" + strconv.Itoa(len(args)))
	return b.String(), args
}

// span adds the conditions of a range of time. An id holds the millisecond in
// which its delivery was made, so that the range is one of the index, too.
func (f *filter) span(where func(condition string, value any)) {
	if f.from != math.MinInt64 {
		where("d.created_at >= ", f.from)
		if id, ok := firstID(f.from); ok {
			where("d.id >= ", id)
		}
	}
	if f.to != math.MaxInt64 {
		where("d.created_at < ", f.to)
		if id, ok := firstID(f.to + time.Millisecond.Microseconds()); ok {
			where("d.id < ", id)
		}
	}
}

// firstID is the least id that a delivery of a moment can have, false when ids
// do not reach that far.
func firstID(micros int64) (string, bool) {
	ms := micros / 1000
	if micros < 0 || uint64(ms) > ulid.MaxTime() {
		return "", false
	}
	var id ulid.ULID
	_ = id.SetTime(uint64(ms)) // it is in its range
	return idPrefix + id.String(), true
}

// list answers GET /v1/deliveries.
func (s *Service) list(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "state", "webhook_id", "event_id", "from", "to", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	return s.answer(c, params)
}

// listOfWebhook answers GET /v1/webhooks/{id}/deliveries.
func (s *Service) listOfWebhook(c *api.Call) (api.Response, error) {
	params, err := api.Parameters(c.URL.RawQuery, "state", "event_id", "from", "to", "limit", "cursor")
	if err != nil {
		return api.Response{}, err
	}
	webhook := mux.Vars(c.Request)["id"]
	mine, err := owns(s.DB.View(c.Context()), c, "webhook", webhook)
	if err != nil {
		return api.Response{}, err
	}
	if !mine {
		return api.Response{}, errNoWebhook
	}
	params["webhook_id"] = webhook
	return s.answer(c, params)
}

// answer is a page of the deliveries that parameters ask for.
func (s *Service) answer(c *api.Call, params map[string]string) (api.Response, error) {
	var faults schema.Faults
	f := filter{state: schema.DeliveryState(params["state"]), webhook: params["webhook_id"], event: params["event_id"]}
	if f.state != "" && !slices.Contains(schema.DeliveryStates, f.state) {
		faults.Add("state", "A delivery is waiting, delivered, failed or cancelled.")
	}
	f.from, f.to = page.Span(&faults, params)
	list := "deliveries?" + url.Values{
		"state": {params["state"]}, "webhook_id": {f.webhook}, "event_id": {f.event},
		"from": {strconv.FormatInt(f.from, 10)}, "to": {strconv.FormatInt(f.to, 10)},
	}.Encode()
	f.limit, f.after = page.Limit(&faults, params), page.After(&faults, s.Box, c, list, params)
	if err := faults.Problem(); err != nil {
		return api.Response{}, err
	}
	view := s.DB.View(c.Context())
	rows, err := f.rows(view, c, s.Now())
	if err != nil {
		return api.Response{}, fmt.Errorf("listing deliveries: %w", err)
	}
	return page.Reply(rows, f.limit,
		func(d schema.Delivery) (schema.Delivery, error) { return d, nil },
		func(d schema.Delivery) *string { return page.Cursor(s.Box, c, list, d.ID) })
}

// rows are the deliveries that a filter lets through, none when it names what is
// not the caller's.
func (f *filter) rows(q state.Querier, c *api.Call, now time.Time) ([]schema.Delivery, error) {
	for table, id := range map[string]string{"webhook": f.webhook, "event": f.event} {
		if id == "" {
			continue
		}
		if mine, err := owns(q, c, table, id); err != nil || !mine {
			return nil, err
		}
	}
	text, args := f.query(c)
	return state.All(q, scanShown(now), text, args...)
}

// get answers GET /v1/deliveries/{id}.
func (s *Service) get(c *api.Call) (api.Response, error) {
	if _, err := api.Parameters(c.URL.RawQuery); err != nil {
		return api.Response{}, err
	}
	d, err := detailed(s.DB.View(c.Context()), c, mux.Vars(c.Request)["id"], s.Now())
	return api.Response{Value: schema.DeliveryShown{Status: schema.Success, Data: d}}, err
}
