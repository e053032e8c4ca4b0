package delivery

import (
	"database/sql"
	"errors"
	"math"
	"strconv"
	"time"

	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

// filter is which deliveries are asked for.
type filter struct {
	state          schema.DeliveryState // "" for all
	retried        string               // "true" or "false"; "" for both
	webhook, event string               // "" for all
	from, to       int64                // microseconds; to is not part of it
	after          string               // the last of the page before
	// readable are the types of events that the key may read; nil for all.
	readable []schema.EventType
	limit    int
}

// scanMost bounds how many deliveries one request looks at for those that no
// index finds: some milliseconds, and who asks for rare ones asks again.
const scanMost = 10_000

// question is a statement on its way to be one, and its values.
type question struct {
	text string
	args []any
}

// and adds a condition that ends with its value.
func (q *question) and(condition string, value any) {
	if len(q.args) > 0 {
		q.text += " AND "
	}
	q.args = append(q.args, value)
	q.text += condition + "$" + strconv.Itoa(len(q.args))
}

// indexed adds what an index finds, in the order of ids. A webhook or an event
// belongs to one account, and is known to be the caller's: asking for the account
// beside it would only lead the planner astray. The state stands as it is, because
// only so an index of failed ones is seen to fit.
func (f *filter) indexed(q *question, c *httpapi.Call) {
	if f.event != "" {
		q.and("d.event_id = ", f.event)
	}
	if f.webhook != "" {
		q.and("d.webhook_id = ", f.webhook)
	}
	if f.event == "" && f.webhook == "" {
		q.and("d.account_id = ", c.Account)
		q.and("d.mode = ", c.World.String())
	}
	f.ids(q)
	if f.after != "" {
		q.and("d.id < ", f.after)
	}
	if f.indexedFailed() {
		q.text += " AND d.state = 'failed'"
		if f.retried == "false" {
			q.text += " AND d.retried_as = ''"
		}
	}
}

// indexedFailed reports whether an index of failed deliveries fits. Those of one
// event are few, and found by it.
func (f *filter) indexedFailed() bool { return f.state == schema.DeliveryFailed && f.event == "" }

// unindexed is what has to be read for: a delivery changes its state for each of
// its indices, and those that few ask for are not worth it.
func (f *filter) unindexed() (text string) {
	failed := f.indexedFailed()
	switch {
	case f.state == "" || failed:
	case f.event != "":
		text = " AND d.state || '' = '" + string(f.state) + "'" // so that no index of a state is seen to fit
	default:
		text = " AND d.state = '" + string(f.state) + "'"
	}
	switch {
	case f.retried == "true":
		text += " AND d.retried_as <> ''"
	case f.retried == "false" && !failed:
		text += " AND d.retried_as = ''"
	}
	return text
}

// restricted reports whether there are types of events that the key may not read.
// The type of a delivery is in its event, so that no index of deliveries finds it.
func (f *filter) restricted() bool {
	return f.readable != nil && len(f.readable) < len(schema.EventTypes)
}

// types adds the types of events that the key may read.
func (f *filter) types(q *question) {
	if !f.restricted() {
		return
	}
	q.text += " AND e.type IN ("
	for i, t := range f.readable {
		if i > 0 {
			q.text += ", "
		}
		q.args = append(q.args, string(t))
		q.text += "$" + strconv.Itoa(len(q.args))
	}
	q.text += ")"
}

// query is the statement for one more than the limit, of those that are not below
// the id floor.
func (f *filter) query(c *httpapi.Call, floor string) (string, []any) {
	q := question{text: "SELECT " + shownColumns + " FROM " + shownTables + " WHERE "}
	f.indexed(&q, c)
	f.instants(&q)
	f.types(&q)
	if floor != "" {
		q.and("d.id >= ", floor)
	}
	q.args = append(q.args, f.limit+1)
	return q.text + f.unindexed() + " ORDER BY d.id DESC LIMIT $" + strconv.Itoa(len(q.args)), q.args
}

// lowest is the statement for the id of the last that one request looks at.
func (f *filter) lowest(c *httpapi.Call) (string, []any) {
	q := question{text: "SELECT d.id FROM delivery d WHERE "}
	f.indexed(&q, c)
	// As it is, because PostgreSQL takes a value for a tenth of all rows.
	return q.text + " ORDER BY d.id DESC LIMIT 1 OFFSET " + strconv.Itoa(scanMost-1), q.args
}

// page is what a filter lets through, and the id after which the next page begins,
// "" when this is the last. With something that no index finds, a page may be
// short of its limit and not the last. The deliveries of one event are no more
// than its account has webhooks, and are looked through at once.
func (f *filter) page(q sqlstore.Querier, c *httpapi.Call, now time.Time) (all []schema.Delivery, next string, err error) {
	floor := ""
	if f.event == "" && (f.unindexed() != "" || f.restricted()) {
		text, args := f.lowest(c)
		if err := q.QueryRow(text, args...).Scan(&floor); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, "", err
		}
	}
	text, args := f.query(c, floor)
	if all, err = sqlstore.All(q, scanShown(now), text, args...); err != nil {
		return nil, "", err
	}
	if len(all) > f.limit {
		all = all[:f.limit]
		return all, all[f.limit-1].ID, nil
	}
	return all, floor, nil
}

// ids adds a range of time as one of the index: an id holds the millisecond in
// which its delivery was made.
func (f *filter) ids(q *question) {
	if id, ok := pagination.FirstID(idPrefix, f.from); ok && f.from != math.MinInt64 {
		q.and("d.id >= ", id)
	}
	if f.to == math.MaxInt64 {
		return
	}
	if id, ok := pagination.FirstID(idPrefix, f.to+time.Millisecond.Microseconds()); ok {
		q.and("d.id < ", id)
	}
}

// instants adds a range of time to the microsecond.
func (f *filter) instants(q *question) {
	if f.from != math.MinInt64 {
		q.and("d.created_at >= ", f.from)
	}
	if f.to != math.MaxInt64 {
		q.and("d.created_at < ", f.to)
	}
}
