package outbox

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

const (
	watchEvery = time.Second
	// watchTimeout bounds a count when the store does not respond.
	watchTimeout = 2 * time.Second
	// maxCount bounds the events that are counted. A count takes 10 ms even with a million events.
	maxCount = 100_000
)

// backlog is the last count of unpublished events.
type backlog struct {
	waiting atomic.Int64
	oldest  atomic.Int64 // creation time of the oldest event in microseconds; 0 for none
	emptyAt atomic.Int64 // when the relay last found the outbox empty, in microseconds
}

// setEmpty records an empty outbox.
func (b *backlog) setEmpty(now time.Time) {
	b.emptyAt.Store(now.UnixMicro())
	b.waiting.Store(0)
	b.oldest.Store(0)
}

// Backlog returns the number of unpublished events and the age of the oldest. While Run runs and
// the store responds, the values are from the last few seconds. The number is at most 100,001,
// which means more than 100,000.
func (o *Outbox) Backlog() (waiting int64, oldest time.Duration) {
	waiting = o.backlog.waiting.Load()
	if at := o.backlog.oldest.Load(); at != 0 {
		oldest = max(0, o.Now().Sub(time.UnixMicro(at)))
	}
	return waiting, oldest
}

// watch counts the backlog once a second until ctx ends.
func (o *Outbox) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if time.Since(time.UnixMicro(o.backlog.emptyAt.Load())) >= watchEvery { // otherwise the relay has just found the outbox empty
			o.metrics.counting.Observe(ctx, o.measure(ctx))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// measure counts the unpublished events.
func (o *Outbox) measure(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, watchTimeout)
	defer done()
	var waiting int64
	var first sql.NullString
	err := o.DB.View(limit).QueryRow(
		"SELECT count(*), min(event_id) FROM (SELECT event_id FROM outbox ORDER BY event_id LIMIT $1) AS waiting", maxCount+1).Scan(&waiting, &first)
	if err != nil {
		return err
	}
	at := int64(0)
	if first.Valid {
		at = timeOf(first.String).UnixMicro()
	}
	o.backlog.waiting.Store(waiting)
	o.backlog.oldest.Store(at)
	return nil
}
