package outbox

import (
	"context"
	"database/sql"
	"time"
)

const (
	countEvery = time.Second
	// countTimeout bounds the duration of a count if the store does not respond.
	countTimeout = 500 * time.Millisecond
	// maxCount is the number up to which events are counted, so that a count takes 10 ms even with a million events.
	maxCount = 100_000
)

// backlog is a count of unpublished events.
type backlog struct {
	at      time.Time // of the count
	waiting int64
	oldest  string // id of the oldest event; "" for none
}

// Backlog returns the number of unpublished events and the age of the oldest. The number is at most 100,001, which
// means more than 100,000. Backlog counts at most once a second. It returns zeros before Run is called. If the store
// does not respond, it returns the result of the last count.
func (o *Outbox) Backlog(ctx context.Context) (waiting int64, oldest time.Duration) {
	counted := o.backlog.Load()
	if counted == nil {
		return 0, 0
	}
	last, now := *counted, o.Now()
	if now.Sub(last.at) >= countEvery {
		next, err := o.count(ctx)
		if o.metrics.counting.Observe(ctx, err); err == nil {
			last = next
		}
		last.at = now
		o.backlog.Store(&last)
	}
	if last.oldest != "" {
		oldest = max(0, now.Sub(timeOf(last.oldest)))
	}
	return last.waiting, oldest
}

func (o *Outbox) count(ctx context.Context) (b backlog, err error) {
	limit, done := context.WithTimeout(ctx, countTimeout)
	defer done()
	var first sql.NullString
	err = o.DB.View(limit).QueryRow(
		"SELECT count(*), min(event_id) FROM (SELECT event_id FROM outbox ORDER BY event_id LIMIT $1) AS waiting", maxCount+1).Scan(&b.waiting, &first)
	b.oldest = first.String
	return b, err
}
