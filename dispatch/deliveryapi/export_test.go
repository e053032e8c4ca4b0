package deliveryapi

import (
	"math"
	"time"

	"vayu/internal/httpapi"
	store "vayu/internal/sqlstore"
	"vayu/schema"
)

// SelectHealth and SelectOpen are the statements of the health of a webhook.
const (
	SelectHealth = selectHealth
	SelectOpen   = selectOpen
)

// ScanMost is the number of deliveries that one request scans.
const ScanMost = scanMost

// ListQueries returns the statement of a list, and the one that finds its bound.
func ListQueries(state schema.DeliveryState, retried, webhook, class string) (text, lowest string, args, lowestArgs []any) {
	f := filter{state: state, retried: retried, webhook: webhook, class: class, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	c := &httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}}
	floor := ""
	if f.unindexed() != "" {
		floor = "dlv_00000000000000001000018000"
	}
	text, args = f.query(c, floor)
	lowest, lowestArgs = f.lowest(c)
	return text, lowest, args, lowestArgs
}

// EventQuery returns the statement that lists the deliveries of one event.
func EventQuery(event, webhook string, state schema.DeliveryState) (text string, args []any) {
	f := filter{state: state, webhook: webhook, event: event, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	return f.query(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}}, "")
}

// RetriableQuery returns the statement for the failed deliveries of acc_crowd, or of a
// webhook.
func RetriableQuery(webhook string) (text string, args []any) {
	f := filter{webhook: webhook, from: math.MinInt64, to: math.MaxInt64}
	return f.retriable(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}})
}

// Page returns the number of deliveries on the first page, and the id after which the
// next page begins. The deliveries are those of acc_crowd in a state, or only those to
// a webhook.
func Page(q store.Querier, state schema.DeliveryState, webhook string) (n int, next string, err error) {
	f := filter{state: state, webhook: webhook, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	all, next, err := f.page(q, &httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}}, time.Time{})
	return len(all), next, err
}
