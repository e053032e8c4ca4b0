package recharge

import (
	"context"
	"fmt"

	"vayu/internal/access/audit"
	"vayu/internal/access/idempotency"
	"vayu/internal/failpoint"
	"vayu/internal/httpapi"
	"vayu/internal/sqlstore"
	"vayu/internal/workqueue"
	"vayu/pipeline/recharge/order"
	"vayu/pipeline/recharge/record"
	"vayu/pipeline/recharge/settle"
	"vayu/pipeline/transaction"
	"vayu/schema"
)

// RefundRequest is a request for a refund.
type RefundRequest struct {
	Reason string
	By     httpapi.Who
	Once   *idempotency.Key // nil for none
}

// Refund requests that the provider reverses a successful recharge. When the provider confirms the
// reversal, the account gets the amount back, even after Refund has returned. If a slot is free,
// Refund makes the call and waits for the result, at most until ctx ends. Refund is idempotent. It
// returns a *schema.Problem if the recharge cannot be refunded.
func (s *Service) Refund(ctx context.Context, o schema.Owner, id string, wish RefundRequest) (record.Record, error) {
	r, err := s.Core.Find(ctx, o, id)
	if err != nil {
		return record.Record{}, err
	}
	conn := transaction.Named(s.connections, o.World, r.Provider)
	if err := refundable(&r, conn); err != nil || r.State == schema.RechargeRefunded || r.RefundID != "" {
		return r, err
	}
	done := make(chan settle.Effect, 1)
	j := job{Connection: conn, call: settle.CallReverse, done: done}
	slot := conn.Pool.TryAcquire(r.InBatch())
	if slot {
		j.lease = s.Queue.NewLease(conn.Pool)
	}
	r, wanted, err := s.requestRefund(ctx, &r, wish, j.lease)
	if err != nil || !wanted {
		if slot {
			conn.Pool.Release(r.InBatch())
		}
		return r, err
	}
	failpoint.Point(failpoint.RefundWanted)
	if !slot {
		conn.Pool.WakeAt(s.Now())
		return r, nil
	}
	j.rec = r
	go s.runJob(j)
	select {
	case out := <-done:
		if out.Transition == settle.RefuseRefund {
			return record.Record{}, schema.NewProblem(schema.InvalidRequest, "id", "The operator refuses to reverse this recharge.")
		}
		return out.Record, nil
	case <-ctx.Done(): // the job continues without the client
		return r, nil
	case <-s.Waiters.Closed():
		return r, nil
	}
}

// errMasked rejects the refund of a recharge with a masked number: the operator needs the number.
var errMasked = schema.NewProblem(schema.InvalidRequest, "id", "This recharge is too old for a refund: its number is masked.")

// refundable returns why a recharge cannot be refunded. It returns nil if a refund is possible, was requested or
// was made.
func refundable(r *record.Record, conn *order.Connection) error {
	switch {
	case r.State == schema.RechargePending:
		return schema.NewProblem(schema.InvalidRequest, "id", "This recharge is pending. Nothing was charged yet.")
	case r.State == schema.RechargeFailed:
		return schema.NewProblem(schema.InvalidRequest, "id", "This recharge has failed. Nothing was charged.")
	case r.State == schema.RechargeSuccess && r.RefundID == "" && r.Digest != nil:
		return errMasked
	case r.State == schema.RechargeSuccess && r.RefundID == "" && (conn == nil || conn.Reverser == nil):
		return schema.NewProblem(schema.Forbidden, "", "This operator does not reverse recharges on request. A recharge that it reverses on its own is refunded.")
	}
	return nil
}

const requestRefundRow = `UPDATE recharge SET refund_id = $2, refund_reason = $3, due_at = $4, token = $5, tries = 0
	WHERE id = $1 AND state = 'success' AND refund_id = '' AND number_digest IS NULL RETURNING ` + record.Columns

// requestRefund stores the request for a refund. `wanted` is false if a refund was requested before,
// or if the recharge is refunded already.
func (s *Service) requestRefund(ctx context.Context, seen *record.Record, wish RefundRequest, own workqueue.Lease) (r record.Record, wanted bool, err error) {
	now := s.Now()
	due, refund := now, record.NewRefundID(now)
	if own.Token != "" {
		due = own.Until
	}
	r = *seen
	err = s.DB.Update(ctx, func(tx *sqlstore.Tx) (err error) {
		found, ok, err := record.Table.One(tx, requestRefundRow, seen.ID, refund, wish.Reason, due.UnixMicro(), own.Token)
		if err != nil {
			return err
		}
		wanted = ok
		if !ok {
			found, _, err = record.Table.Get(tx, seen.ID)
			r = found
			if err == nil && r.State == schema.RechargeSuccess && r.RefundID == "" {
				return errMasked
			}
			return err
		}
		r = found
		if _, err := wish.Once.Claim(tx, now, path+"/"+r.ID); err != nil {
			return err
		}
		from := transaction.Origin{Caller: wish.By}
		return audit.Append(tx, now, from.Audit(&r.Base, "recharge.refund", map[string]any{"amount": r.Amount, "refund_id": r.RefundID, "reason": wish.Reason}))
	})
	if err != nil {
		return *seen, false, fmt.Errorf("requesting the refund of %s: %w", seen.ID, err)
	}
	return r, wanted, nil
}
