package batch

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"vayu/internal/failpoint"
	"vayu/internal/panics"
	"vayu/internal/sleep"
	"vayu/internal/sqlstore"
	"vayu/pipeline/batch/item"
)

// startRecords starts records while slots are free. The channel receives when the earliest pause of
// a lane (queue of an account) ends. It is nil if no slot is free or no lane is paused.
func (w *worker) startRecords(working context.Context) <-chan time.Time {
	for {
		now := w.Now()
		r, ok, wake := w.scheduler.next(now)
		switch {
		case ok:
			w.startRecord(working, r)
		case wake.IsZero():
			return nil
		default:
			return time.After(wake.Sub(now))
		}
	}
}

func (w *worker) startRecord(working context.Context, r record) {
	r.chunk.ready--
	r.chunk.inFlight++
	w.metrics.inFlight.Inc()
	item := r.item()
	w.job(func() func() {
		limit, cancel := context.WithTimeout(working, w.timing.recordTimeout)
		defer cancel()
		err := w.doRecovering(sqlstore.WithWorld(limit, item.Owner.World), item)
		failpoint.Point(failpoint.BatchBegun)
		return func() { w.recordDone(working, r.chunk, err) }
	})
}

// doRecovering calls [item.Kind.Do], and returns a panic as an error. The record is then retried,
// and the worker continues with other records.
func (w *worker) doRecovering(ctx context.Context, item item.Item) error {
	err := panics.Catch(func() error { return w.kind.Do(ctx, item) })
	if p, ok := errors.AsType[*panics.Error](err); ok {
		w.Log.ErrorContext(ctx, "panic", "batch", item.Batch, "index", item.Index, "panic", p)
	}
	return err
}

// recordDone handles err, the result of Do for one record of a chunk.
func (w *worker) recordDone(working context.Context, c *chunk, err error) {
	w.metrics.inFlight.Dec()
	c.inFlight--
	c.lane.inFlight--
	w.scheduler.inFlight--
	if err == nil {
		w.metrics.done.Inc()
		c.done++
		c.lane.failures = 0
	} else {
		w.metrics.retried.Inc()
		c.toRetry++
		w.pauseLane(working, c.lane, err)
	}
	w.releaseIfDone(working, c)
}

// pauseLane pauses a lane (the queue of an account) after a failure. It does nothing if the lane is
// paused already.
func (w *worker) pauseLane(ctx context.Context, l *lane, err error) {
	now := w.Now()
	if now.Before(l.pausedUntil) {
		return
	}
	if l.failures == 0 {
		w.Log.WarnContext(ctx, "records of batches cannot begin; they are retried",
			slog.String("kind", w.kind.Name), slog.String("account", l.account), slog.Any("error", err))
	}
	l.pausedUntil = now.Add(w.backoff(l.failures))
	l.failures++
}

// backoff returns the length of the pause after a failure. tries counts the earlier failures.
func (w *worker) backoff(tries int) time.Duration {
	return sleep.Backoff(tries, w.timing.minBackoff, w.timing.maxBackoff)
}
