package transaction

import (
	"errors"
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/batch/item"
	"vayu/schema"
)

// Origin is the source of a request.
type Origin struct {
	Owner  schema.Owner
	Caller httpapi.Who
	Item   *BatchItem // batch item that the request belongs to; nil for none
}

// Audit returns an entry of the audit log about a transaction and its caller.
func (o *Origin) Audit(b *Base, action string, detail map[string]any) audit.Entry {
	e := b.Audit(o.Caller.Key, action, detail)
	e.Request, e.Client = o.Caller.Request, o.Caller.Client
	return e
}

// Audit returns an entry of the audit log about a transaction.
func (b *Base) Audit(actor, action string, detail map[string]any) audit.Entry {
	return audit.Entry{Account: b.Owner.Account, World: b.Owner.World, Actor: actor, Action: action, Subject: b.ID, Detail: detail}
}

// ErrExists means that a transaction exists already for the reference or the batch item of a
// request.
var ErrExists = errors.New("the transaction exists already")

// CreateOnce returns the transaction that the function find returns for a request, or
// else creates one. existed is true if find returned the transaction.
func CreateOnce[R any](find func() (R, bool, error), create func() (R, error)) (r R, existed bool, err error) {
	if r, existed, err = find(); existed || err != nil {
		return r, existed, err
	}
	if r, err = create(); !errors.Is(err, ErrExists) {
		return r, false, err
	}
	r, existed, err = find() // a concurrent request used the reference, or the item was begun before
	if err == nil && !existed {
		err = schema.NewProblem(schema.DuplicateRefID, "ref_id", "This record of the batch was begun before.")
	}
	return r, existed, err
}

// Repeated returns r, which already has the reference of a request. The error is duplicate_ref_id
// in two cases: item is set and did not create r, or item is nil and the bodies are not the same.
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

// BeginItem begins the batch item of a new transaction. The error is ErrExists if the item
// began before. It does nothing for a transaction without an item.
func BeginItem(tx *sqlstore.Tx, b *Base) error {
	if !b.InBatch() {
		return nil
	}
	begun, err := item.Begin(tx, item.Item{Batch: b.Batch.Batch, Index: b.Batch.Index, Owner: b.Owner}, b.ID)
	if err == nil && !begun {
		err = ErrExists
	}
	return err
}

// FirstDue returns when the first call of a new transaction is due: at the end of its lease, or at once.
// It is zero for a final transaction.
func FirstDue(b *Base, lease workqueue.Lease) time.Time {
	switch {
	case !b.FinishedAt.IsZero():
		return time.Time{}
	case lease.Token != "":
		return lease.Until
	}
	return b.CreatedAt
}

// Inserted handles err, the result of inserting a transaction. The parameter lease is the
// lease of the first call; zero if the call is queued. Inserted releases the slot of the
// call if err is set or the transaction is final. It wakes the queue for a queued call. start
// is true if the caller must start the call. The link is nil for a transaction that needs no call.
func (c *Core[R, P]) Inserted(r P, l *Link, lease workqueue.Lease, err error) (start bool) {
	b := r.Shared()
	if err != nil || r.Status() != pendingState {
		if lease.Token != "" {
			l.Release(b.InBatch())
		}
		if err == nil {
			c.Metrics.Finished(b, r.Status())
		}
		return false
	}
	failpoint.Point(c.kind.Created)
	if lease.Token == "" {
		l.WakeAt(b.CreatedAt)
		return false
	}
	return true
}
