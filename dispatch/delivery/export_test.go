package delivery

import (
	"context"
	"math"
	"time"

	"vayu/internal/httpapi"
	store "vayu/internal/sqlstore"
	"vayu/schema"
)

// The statements whose plans a test looks at.
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

// RecordOutcomes is for a full group.
func RecordOutcomes() string { return recordOutcomes[len(recordOutcomes)-1] }

// NewIDs makes ids in ascending order.
func NewIDs(now time.Time, n int) []string { return newIDs(now, n) }

// LeaseStatements are those that claim and release a full group.
func LeaseStatements() (claim, release string) { return leases.Statements() }

// ScanMost is how many deliveries one request looks at.
const ScanMost = scanMost

// ListQueries are the statement of a list, and the one that bounds it.
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

// EventQuery is the statement of a list of one event's deliveries.
func EventQuery(event, webhook string, state schema.DeliveryState) (text string, args []any) {
	f := filter{state: state, webhook: webhook, event: event, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	return f.query(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}}, "")
}

// RetriableQuery is the statement for failed deliveries of acc_crowd, or of a webhook.
func RetriableQuery(webhook string) (text string, args []any) {
	f := filter{webhook: webhook, from: math.MinInt64, to: math.MaxInt64}
	return f.retriable(&httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}})
}

// Page is how many deliveries of acc_crowd in a state, or those of them to a
// webhook, the first page has, and the id after which the next begins.
func Page(q store.Querier, state schema.DeliveryState, webhook string) (n int, next string, err error) {
	f := filter{state: state, webhook: webhook, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	all, next, err := f.page(q, &httpapi.Call{Principal: httpapi.Principal{Account: "acc_crowd"}}, time.Time{})
	return len(all), next, err
}

// CancelDeleted is what Run does each second.
func (s *Service) CancelDeleted(ctx context.Context, since time.Time) error {
	return s.cancelDeleted(ctx, since)
}

// Purge is what Run does each minute.
func (s *Service) Purge(ctx context.Context) error { return s.purge(ctx) }

// CopyDue copies everything that is old enough.
func (c *Copier) CopyDue(ctx context.Context) error { return c.copyDue(ctx) }

// SetMost sets how many attempts go into one insert.
func (c *Copier) SetMost(n int) { c.most = n }

// SetAgain sets the pause after a failure.
func (c *Copier) SetAgain(d time.Duration) { c.retry = d }

// Bound is what Run does each ten seconds.
func (s *Service) Bound(ctx context.Context) error { return s.bound(ctx) }

// ForgetBacklogs is what Run does each minute.
func (s *Service) ForgetBacklogs(ctx context.Context) error { return s.purgeBacklogs(ctx) }
