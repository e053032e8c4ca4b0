package transaction

import (
	"time"

	"vayu/internal/access/audit"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/workqueue"
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

// Inserted handles `err`, the result of inserting a transaction. `lease` is the lease of the first call; zero if the
// call is queued. Inserted releases the slot of the call if `err` is set or the transaction is final. It wakes the
// queue for a queued call. It returns true if the caller must start the call. The link is nil for a transaction that
// needs no call.
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
