package delivery

import (
	"context"
	"math"
	"time"

	"vayu/internal/httpapi"
	store "vayu/internal/sqlstore"
	"vayu/schema"
)

// The statements whose plans are tested.
const (
	SelectDue    = selectDue
	SelectBefore = selectBefore
	SelectAfter  = selectAfter
	SelectLanes  = selectLanes
	SelectHealth = selectHealth

	SelectOrphaned = selectOrphaned
	CancelOrphans  = cancelOrphans
	SelectOver     = selectOver
	SelectCopied   = selectCopied + copiedRange
)

// RecordOutcomes returns the statement for a full group.
func RecordOutcomes() string { return recordOutcomes[len(recordOutcomes)-1] }

// NewIDs returns ids in ascending order.
func NewIDs(now time.Time, n int) []string { return newIDs(now, n) }

// LeaseStatements returns the statements that claim and release a full group.
func LeaseStatements() (claim, release string) { return leases.Statements() }

// ScanMost is the number of deliveries that one request scans.
const ScanMost = scanMost

// ListQueries returns the statement of a list, and the one that finds its bound.
func ListQueries(state schema.DeliveryState, retried, webhook string) (text, lowest string, args, lowestArgs []any) {
	f := filter{state: state, retried: retried, webhook: webhook, from: math.MinInt64, to: math.MaxInt64, limit: 100}
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

// CancelDeleted does what Run does each second.
func (s *Service) CancelDeleted(ctx context.Context, since time.Time) error {
	return s.cancelDeleted(ctx, since)
}

// Purge does what Run does each minute.
func (s *Service) Purge(ctx context.Context) error { return s.purge(ctx) }

// CopyDue copies every attempt that is old enough.
func (c *Copier) CopyDue(ctx context.Context) error { return c.copyDue(ctx) }

// SetMost sets the number of attempts in one insert.
func (c *Copier) SetMost(n int) { c.most = n }

// SetAgain sets the delay after a failure.
func (c *Copier) SetAgain(d time.Duration) { c.retry = d }

// Bound does what Run does every ten seconds.
func (s *Service) Bound(ctx context.Context) error { return s.bound(ctx) }

// ForgetBacklogs does what Run does each minute.
func (s *Service) ForgetBacklogs(ctx context.Context) error { return s.purgeBacklogs(ctx) }
