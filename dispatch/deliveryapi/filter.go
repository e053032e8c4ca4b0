package deliveryapi

import (
	"database/sql"
	"errors"
	"math"
	"strconv"
	"time"

	"vayu/dispatch/delivery"
	"vayu/internal/httpapi"
	"vayu/internal/pagination"
	"vayu/internal/sqlstore"
	"vayu/schema"
)

type filter struct {
	state          schema.DeliveryState // "" for all
	retried        string               // "true" or "false"; "" for both
	class          string               // key of statusClasses; "" for all
	webhook, event string               // "" for all
	from, to       int64                // microseconds; `to` is exclusive
	after          string               // id after which the page begins; "" for the first page
	// readable are the event types to list; nil means all. They are the types that the key may read, or the one that
	// the client has requested.
	readable []schema.EventType
	limit    int
}

// scanMost is the maximum number of deliveries that one request scans for conditions without an index. Scanning that
// many takes a few milliseconds. The client can continue the scan with the cursor.
const scanMost = 10_000

// statusClasses has the valid values of the parameter status_class, each with the SQL literal for the column
// status_class.
var statusClasses = map[string]string{"none": "0", "2xx": "2", "3xx": "3", "4xx": "4", "5xx": "5"}

// query is an SQL statement under construction, with its arguments.
type query struct {
	text string
	args []any
}

// The method `and` appends a condition: the given text, followed by a placeholder for the value.
func (q *query) and(condition string, value any) {
	if len(q.args) > 0 {
		q.text += " AND "
	}
	q.args = append(q.args, value)
	q.text += condition + "$" + strconv.Itoa(len(q.args))
}

// indexed adds the conditions that an index ordered by id supports. If the filter names a webhook or an event, indexed
// omits the conditions on the account and the mode, which would mislead the query planner. This is safe: the method
// `allowed` has already checked that the webhook and the event belong to the caller. The state and the class are
// literals. Only with literals does the planner use the partial indexes of failed and of unacknowledged deliveries.
func (f *filter) indexed(q *query, c *httpapi.Call) {
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
	if f.indexedClass() {
		q.text += " AND d.status_class <> 2 AND d.status_class = " + statusClasses[f.class]
	}
	if f.indexedFailed() {
		q.text += " AND d.state = 'failed'"
		if f.retried == "false" {
			q.text += " AND d.retried_as = ''"
		}
	}
}

// indexedFailed reports whether the query should use an index of failed deliveries. A query for one event uses the
// index of events instead, because an event has few deliveries. A query for a status class other than 2xx uses the
// index of unacknowledged deliveries instead (see indexedClass).
func (f *filter) indexedFailed() bool {
	return f.state == schema.DeliveryFailed && f.event == "" && !f.indexedClass()
}

// indexedClass reports whether the query should use an index of unacknowledged deliveries (all classes but 2xx).
func (f *filter) indexedClass() bool { return f.class != "" && f.class != "2xx" && f.event == "" }

// unindexed returns the conditions for which no index is used. Requests rarely use them, and an index would cost time
// at each change of a delivery's state.
func (f *filter) unindexed() (text string) {
	failed := f.indexedFailed()
	switch {
	case f.state == "" || failed:
	case f.event != "" || f.indexedClass():
		text = " AND d.state || '' = '" + string(f.state) + "'" // prevents the use of an index of states
	default:
		text = " AND d.state = '" + string(f.state) + "'"
	}
	switch {
	case f.retried == "true":
		text += " AND d.retried_as <> ''"
	case f.retried == "false" && !failed:
		text += " AND d.retried_as = ''"
	}
	if f.class != "" && !f.indexedClass() {
		text += " AND d.status_class + 0 = " + statusClasses[f.class] // prevents the use of an index of classes
	}
	return text
}

// types adds the condition that the event has one of the readable types. If all types are readable, it adds nothing.
func (f *filter) types(q *query) {
	if f.readable == nil || len(f.readable) == len(schema.EventTypes) {
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

// query returns the statement for a page. It reads up to one row more than the limit, to detect a next page. `floor` is
// the lowest id to read; "" for no bound.
func (f *filter) query(c *httpapi.Call, floor string) (string, []any) {
	q := query{text: "SELECT " + shownColumns + " FROM " + shownTables + " WHERE "}
	f.indexed(&q, c)
	f.instants(&q)
	f.types(&q)
	if floor != "" {
		q.and("d.id >= ", floor)
	}
	q.args = append(q.args, f.limit+1)
	return q.text + f.unindexed() + " ORDER BY d.id DESC LIMIT $" + strconv.Itoa(len(q.args)), q.args
}

// lowest returns the statement that reads the id at which one request ends its scan (see scanMost).
func (f *filter) lowest(c *httpapi.Call) (string, []any) {
	q := query{text: "SELECT d.id FROM delivery d WHERE "}
	f.indexed(&q, c)
	// The offset is a literal. For a parameter, PostgreSQL would estimate the offset as a tenth of all rows.
	return q.text + " ORDER BY d.id DESC LIMIT 1 OFFSET " + strconv.Itoa(scanMost-1), q.args
}

// page returns the matching deliveries and the id after which the next page begins; "" on the last page. If a condition
// has no index, or the filter excludes an event type that customers receive, scanMost limits the scan. Then a page may
// be shorter than the limit although more pages follow. The scan of one event's few deliveries is never limited.
func (f *filter) page(q sqlstore.Querier, c *httpapi.Call, now time.Time) (all []schema.Delivery, next string, err error) {
	floor := ""
	// If f.readable lacks only operational types, the scan needs no bound, because it skips only few events.
	if f.event == "" && (f.unindexed() != "" || schema.HidesCustomerEvents(f.readable)) {
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

// ids adds conditions on the id for the time range and the start of the page, because ids ascend with time. For a
// missing bound it adds no condition, because a condition that is always true would keep SQLite from using the
// indexes of failed deliveries.
func (f *filter) ids(q *query) {
	first, end := pagination.IDRange(delivery.IDPrefix, f.from, f.to, f.after)
	if f.from != math.MinInt64 {
		q.and("d.id >= ", first)
	}
	if f.to != math.MaxInt64 || f.after != "" {
		q.and("d.id < ", end)
	}
}

// instants adds the exact time range as conditions on created_at. The method `ids` is exact to a millisecond only.
func (f *filter) instants(q *query) {
	if f.from != math.MinInt64 {
		q.and("d.created_at >= ", f.from)
	}
	if f.to != math.MaxInt64 {
		q.and("d.created_at < ", f.to)
	}
}
