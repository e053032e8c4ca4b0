package outbox

import (
	"context"
	"database/sql"
	"sync/atomic"
	"time"
)

const (
	watchEvery = time.Second
	// watchMost ends a look at a store that hangs, so that the next finds it well.
	watchMost = 2 * time.Second
	// countMost bounds what is counted: that costs 10 ms with an hour's events, and
	// as much with a million.
	countMost = 100_000
)

// backlog is what waits, as of the last look.
type backlog struct {
	waiting atomic.Int64
	oldest  atomic.Int64 // when it was made, in microseconds; 0 for none
	clear   atomic.Int64 // when the relay last saw that nothing waits, in microseconds
}

// none notes that nothing waits.
func (b *backlog) none(now time.Time) {
	b.clear.Store(now.UnixMicro())
	b.waiting.Store(0)
	b.oldest.Store(0)
}

// Backlog is how many events wait for the relay and how long the oldest has
// done so, as of the last look, which is at most a second old while Run runs.
// It counts to 100,000: 100,001 says that there are more.
func (o *Outbox) Backlog() (waiting int64, oldest time.Duration) {
	waiting = o.backlog.waiting.Load()
	if at := o.backlog.oldest.Load(); at != 0 {
		oldest = max(0, o.Now().Sub(time.UnixMicro(at)))
	}
	return waiting, oldest
}

// watch looks at the backlog once a second until ctx ends.
func (o *Outbox) watch(ctx context.Context) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if time.Since(time.UnixMicro(o.backlog.clear.Load())) >= watchEvery { // else the relay has just looked
			o.metrics.looking.Tell(ctx, o.look(ctx))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// look counts what waits now.
func (o *Outbox) look(ctx context.Context) error {
	limit, done := context.WithTimeout(ctx, watchMost)
	defer done()
	var waiting int64
	var first sql.NullString
	err := o.DB.View(limit).QueryRow(
		"SELECT count(*), min(event_id) FROM (SELECT event_id FROM outbox ORDER BY event_id LIMIT $1) AS waiting", countMost+1).Scan(&waiting, &first)
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
