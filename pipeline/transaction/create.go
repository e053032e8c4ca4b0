package transaction

import (
	"errors"

	"vayu/internal/failpoint"
	"vayu/internal/workqueue"
	"vayu/schema"
)

// ErrExists means that a ref_id or Idempotency-Key is used already, or that a batch item has begun or was rejected.
var ErrExists = errors.New("the transaction exists already")

// CreateOnce returns the transaction that `find` finds for a request; then `existed` is true. Otherwise it creates one.
// If `create` returns ErrExists, it calls `find` again. If `find` then finds none, the error is duplicate_ref_id.
func CreateOnce[R any](find func() (R, bool, error), create func() (R, error)) (r R, existed bool, err error) {
	if r, existed, err = find(); existed || err != nil {
		return r, existed, err
	}
	if r, err = create(); !errors.Is(err, ErrExists) {
		return r, false, err
	}
	r, existed, err = find() // a concurrent request used the reference, or the batch item has begun or was rejected
	if err == nil && !existed {
		err = schema.NewProblem(schema.DuplicateRefID, "ref_id", "This record of the batch was started before.")
	}
	return r, existed, err
}

// Repeated returns r and true if a new request with the ref_id of r repeats the request that created r. With `item`,
// r must be of the same batch item. Without it, `same` must be set. Otherwise the error is duplicate_ref_id.
func (c *Core[R, P]) Repeated(r R, item *BatchItem, same bool) (R, bool, error) {
	b := P(&r).Shared()
	text := "This ref_id was used before, for " + b.ID
	switch {
	case item != nil && b.Batch == *item, item == nil && same:
		return r, true, nil
	case item == nil:
		text += ", which is another " + c.kind.Name
	}
	var none R
	return none, false, schema.NewProblem(schema.DuplicateRefID, "ref_id", text+".")
}

// Inserted completes the insertion of a transaction. `err` is the error of the insertion. `lease` is the lease of
// the first call; zero if the call is queued. If `err` is set or the transaction is final, Inserted releases the
// slot of the call. For a queued call, it wakes the queue. It returns true if the caller must start the call. The
// link l is nil for a transaction that needs no call.
func (c *Core[R, P]) Inserted(r P, l *Link, lease workqueue.Lease, err error) (start bool) {
	b := r.Shared()
	if err != nil || r.Status() != pendingState {
		if lease.Token != "" {
			l.Pool.Release(b.InBatch())
		}
		if err == nil {
			c.Metrics.Finished(b, r.Status())
		}
		return false
	}
	failpoint.Point(c.kind.Created)
	if lease.Token == "" {
		l.Pool.WakeAt(b.CreatedAt)
		return false
	}
	return true
}
