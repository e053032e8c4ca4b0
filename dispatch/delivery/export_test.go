package delivery

import (
	"context"
	"math"
	"time"

	"vayu/internal/api"
	"vayu/schema"
)

// The statements whose plans a test looks at.
const (
	SelectDue    = selectDue
	SelectBefore = selectBefore
	SelectAfter  = selectAfter
	SelectLanes  = selectLanes

	SelectOrphaned = selectOrphaned
	CancelOrphans  = cancelOrphans
	SelectOver     = selectOver
	SelectCopied   = selectCopied + copiedRange
)

// RecordOutcomes is for a full group.
func RecordOutcomes() string { return recordOutcomes[len(recordOutcomes)-1] }

// ReleaseRows is for a full group.
func ReleaseRows() string { return releaseRows[len(releaseRows)-1] }

// ListQuery is the statement of a list.
func ListQuery(state schema.DeliveryState, webhook, event string) (text string, args []any) {
	f := filter{state: state, webhook: webhook, event: event, from: math.MinInt64, to: math.MaxInt64, limit: 100}
	return f.query(&api.Call{Principal: api.Principal{Account: "acc_crowd"}})
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
func (c *Copier) SetAgain(d time.Duration) { c.again = d }
