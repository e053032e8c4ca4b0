package delivery

import (
	"context"
	"time"
)

// The statements whose plans are tested.
const (
	SelectDue    = selectDue
	SelectBefore = selectBefore
	SelectAfter  = selectAfter
	SelectLanes  = selectLanes

	SelectOrphaned = selectOrphaned
	CancelOrphans  = cancelOrphans
	SelectOver     = selectOver
	SelectCopied   = selectCopied + copiedRange
	SelectTried    = selectTried
	SelectEnded    = selectEnded
)

// SelectMade is the statement of new deliveries.
var SelectMade = &selectMade

// RecordOutcomes returns the statement for a full group.
func RecordOutcomes() string { return recordOutcomes[len(recordOutcomes)-1] }

// NewIDs returns ids in ascending order.
func NewIDs(now time.Time, n int) []string { return newIDs(now, n) }

// LeaseStatements returns the statements that claim and release a full group.
func LeaseStatements() (claim, release string) { return leases.Statements() }

// CancelDeleted does the same as Run does each second.
func (s *Service) CancelDeleted(ctx context.Context, since time.Time) error {
	return s.cancelDeleted(ctx, since)
}

// Purge does the same as Run does each minute.
func (s *Service) Purge(ctx context.Context) error { return s.purge(ctx) }

// CopyDue copies every attempt that is old enough.
func (c *Copier) CopyDue(ctx context.Context) error { return c.copyDue(ctx) }

// SetMost sets the number of attempts in one insert.
func (c *Copier) SetMost(n int) { c.most = n }

// SetAgain sets the delay after a failure.
func (c *Copier) SetAgain(d time.Duration) { c.retry = d }

// Bound does the same as Run does every ten seconds.
func (s *Service) Bound(ctx context.Context) error { return s.bound(ctx) }

// BoundOne applies the limit to one webhook, as Bound does after it found the webhook above the limit.
func (s *Service) BoundOne(ctx context.Context, webhook string) error {
	return s.boundOne(ctx, webhook)
}

// Watch does the same as Run does each minute, with the attempts of the last minutes.
func (s *Service) Watch(ctx context.Context) error {
	w := watcher{Service: s, until: s.Now().Add(-watchEvery), started: true}
	return w.look(ctx, s.Now())
}

// WatchAfterStart does the same as Run does a minute after its start.
func (s *Service) WatchAfterStart(ctx context.Context) error {
	w := watcher{Service: s, until: s.Now().Add(-watchEvery - failingAfter)}
	return w.look(ctx, s.Now())
}

// SelectResults reads the attempts of webhooks in a time.
const SelectResults = selectResults

// ForgetBacklogs does the same as Run does each minute.
func (s *Service) ForgetBacklogs(ctx context.Context) error { return s.purgeBacklogs(ctx) }
