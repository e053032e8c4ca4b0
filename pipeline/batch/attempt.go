package batch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/sqlstore"
)

// begin begins records as long as there is room, and returns when to look again.
func (w *worker) begin(working context.Context) <-chan time.Time {
	for {
		now := w.Now()
		r, ok, wake := w.desk.next(now)
		switch {
		case ok:
			w.attempt(working, r)
		case wake.IsZero():
			return nil
		default:
			return time.After(wake.Sub(now))
		}
	}
}

// attempt begins a record.
func (w *worker) attempt(working context.Context, r record) {
	r.chunk.ready--
	r.chunk.under++
	w.metrics.underWay.Inc()
	item := r.item()
	w.job(func() func() {
		limit, cancel := context.WithTimeout(working, w.pace.record)
		defer cancel()
		err := w.do(sqlstore.InWorld(limit, item.Owner.World), item)
		failpoint.Point(failpoint.BatchBegun)
		return func() { w.outcome(working, r.chunk, err) }
	})
}

// errPanic is the error of a record whose Do has panicked.
var errPanic = errors.New("panic")

// do is Do of the kind. A record that makes it panic is one that comes again: it must
// not take those of others with it.
func (w *worker) do(ctx context.Context, item Item) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.ErrorContext(ctx, "panic", "batch", item.Batch, "index", item.Index, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return w.kind.Do(ctx, item)
}

// outcome takes a record of a chunk that is done, or has to come again.
func (w *worker) outcome(working context.Context, c *chunk, err error) {
	w.metrics.underWay.Dec()
	c.under--
	c.lane.under--
	w.desk.under--
	if err == nil {
		w.metrics.done.Inc()
		c.done++
		c.lane.trouble = 0
	} else {
		w.metrics.again.Inc()
		c.again++
		w.trouble(working, c.lane, err)
	}
	w.settle(working, c)
}

// trouble has a lane pause, unless the record was begun before its last pause.
func (w *worker) trouble(ctx context.Context, l *lane, err error) {
	now := w.Now()
	if now.Before(l.until) {
		return
	}
	if l.trouble == 0 {
		w.Log.WarnContext(ctx, "records of batches cannot be begun; they come again",
			slog.String("kind", w.kind.Name), slog.String("account", l.account), slog.Any("error", err))
	}
	l.until = now.Add(w.backoff(l.trouble))
	l.trouble++
}

// backoff is the pause after so many tries before.
func (w *worker) backoff(tries int) time.Duration {
	const most = 20 // a million times the first, so that nothing overflows
	return min(w.pace.pause<<min(tries, most), w.pace.pauseMost)
}
